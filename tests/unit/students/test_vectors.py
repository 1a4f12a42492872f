"""Where token vectors start."""

import json

import numpy as np
import pytest
import torch
from tiny_encoders import tiny_encoder

from limbeck.errors import DataError, FileMissing
from limbeck.students.vectors import (
    narrowed,
    plain,
    vectors_of_encoder,
    vectors_of_files,
    vectors_of_texts,
    vectors_of_words,
)
from limbeck.students.wordvectors import read_word_vectors
from limbeck.teach.network import Encoder
from limbeck.training.tokens import Tokens


def test_an_encoder_says_something_of_each_of_its_tokens(tmp_path):
    folder = tiny_encoder(tmp_path, ["late", "train", "cold"])
    tokens = Tokens(folder, 16)
    vocabulary = tokens.tokenizer.convert_ids_to_tokens(list(range(8)))
    encoder = Encoder(folder)
    texts = ["cold train cold", "late train"]
    found, often = vectors_of_encoder(encoder, tokens, vocabulary, texts)
    assert found.shape == (8, 32)
    cold = vocabulary.index("cold")
    assert [often[vocabulary.index(word)] for word in ("cold", "train", "late")] == [2, 2, 1]
    states = [encoder(*asked(tokens, text))[0].detach().numpy() for text in ("cold", texts[0])]
    # Each text begins with a mark: alone, then first and third in the other text.
    assert found[cold] == pytest.approx((states[0][1] + states[1][1] + states[1][3]) / 3, abs=1e-5)


def asked(tokens, text):
    ids = torch.from_numpy(np.array(tokens.encode([text])[0], dtype=np.int64))[None]
    return ids, torch.ones_like(ids)


def test_an_encoder_reads_words_that_are_not_its_tokens(tmp_path):
    folder = tiny_encoder(tmp_path, ["late", "train", "cold"])
    read = vectors_of_words(Encoder(folder), Tokens(folder, 16), ["cold", "train", "##late"])
    assert read.shape == (3, 32) and not np.allclose(read[0], read[1])


def test_directions_are_chosen_for_tokens_that_texts_have():
    rng = np.random.default_rng(0)
    used, unused = np.zeros((50, 2)), np.zeros((5000, 2))
    used[:, 0], unused[:, 1] = rng.normal(size=50), 3 * rng.normal(size=5000)
    vectors = np.concatenate([used, unused]).astype(np.float32)
    often = np.array([1000] * 50 + [0] * 5000)
    slim = narrowed(vectors, 1, often)
    assert abs(np.corrcoef(slim[:50, 0], used[:, 0])[0, 1]) > 0.99
    assert abs(np.corrcoef(narrowed(vectors, 1)[50:, 0], unused[:, 1])[0, 1]) > 0.99


def test_narrowing_keeps_who_is_near_to_whom():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 40)) + 0.01 * rng.normal(size=(200, 40))
    slim = narrowed(wide.astype(np.float32), 3)
    apart = np.linalg.norm(wide[:50, None] - wide[None, :50], axis=2)
    now = np.linalg.norm(slim[:50, None] - slim[None, :50], axis=2)
    assert slim.shape == (200, 3)
    assert np.corrcoef(apart.ravel(), now.ravel())[0, 1] > 0.999
    assert slim.std() == pytest.approx(1, abs=1e-5)


def test_words_in_the_same_company_get_similar_vectors():
    rng = np.random.default_rng(1)
    # Tokens 2 and 3 stand among 10–14, tokens 4 and 5 among 20–24.
    texts = [
        np.array([a, *rng.choice(around, 3)], dtype=np.int32)
        for _ in range(400)
        for a, around in ((rng.integers(2, 4), range(10, 15)), (rng.integers(4, 6), range(20, 25)))
    ]
    found = vectors_of_texts(texts, 30, 8, seed=0)
    unit = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    assert unit[2] @ unit[3] > 0.8 and unit[4] @ unit[5] > 0.8 and unit[2] @ unit[4] < 0.3
    assert np.array_equal(found, vectors_of_texts(texts, 30, 8, seed=0))
    assert vectors_of_texts([], 30, 8, seed=0).shape == (30, 8)


class TestFiles:
    def test_several_files_stand_side_by_side_in_every_format(self, tmp_path):
        (tmp_path / "glove.txt").write_text("late 1 0\ntrain 0 2\n", encoding="utf-8")
        (tmp_path / "fast.vec").write_text("2 3\nlate 1 1 1\ncold 2 2 2\n", encoding="utf-8")
        (tmp_path / "w.json").write_text(
            json.dumps({"dimensions": 1, "vectors": {"late": [4.0, 9.9], "cold": [2.0, 9.9]}}), encoding="utf-8"
        )
        files = [read_word_vectors(name, tmp_path) for name in ("glove.txt", "fast.vec", "w.json")]
        found = vectors_of_files(files, ["late", "LATE", "##cold", "never"], seed=0)
        assert found.shape == (4, 6)
        # Each file's vectors are scaled to a deviation of 1 over the tokens that were found.
        assert found[0] == pytest.approx([2, 0, *[1 / np.std([1, 1, 2])] * 3, *found[0, 5:]], abs=1e-5)
        assert found[2, 2:5] == pytest.approx(2 * found[0, 2:5])
        assert np.array_equal(found[0], found[1])
        assert np.abs(found[3]).max() < 0.5

    def test_unknown_words_are_made_of_pieces(self, tmp_path):
        words = ["▁", "▁ver", "spät", "ung", "▁Zug", "e"]
        (tmp_path / "pieces.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        np.save(tmp_path / "v.npy", np.eye(6, dtype=np.float16))
        found = read_word_vectors("v.npy + pieces.txt", tmp_path)
        assert found.find("verspätung") == pytest.approx(np.array([0, 1, 1, 1, 0, 0]) / 3, abs=1e-3)
        assert found.find("zug") == pytest.approx(np.eye(6)[4])
        assert found.find("ung", inside=True) == pytest.approx(np.eye(6)[3])
        assert found.find("züge") is None

    @pytest.mark.parametrize(
        ("name", "content", "says"),
        [
            ("a.txt", "late 1 2\ntrain 1\n", "'train' has 1 numbers"),
            ("b.txt", "", "no word vectors"),
            ("c.txt", "late\n", "no word vectors"),
        ],
    )
    def test_a_broken_file_is_named(self, tmp_path, name, content, says):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=says):
            read_word_vectors(name, tmp_path)

    def test_files_that_do_not_belong_together_or_are_missing(self, tmp_path):
        np.save(tmp_path / "v.npy", np.eye(3))
        (tmp_path / "w.txt").write_text("a\nb\n", encoding="utf-8")
        with pytest.raises(DataError, match="lists 2 words"):
            read_word_vectors("v.npy + w.txt", tmp_path)
        with pytest.raises(DataError, match="no words"):
            read_word_vectors("v.npy", tmp_path)
        with pytest.raises(FileMissing):
            read_word_vectors("nowhere.txt", tmp_path)


def test_marks_of_word_pieces_are_taken_off():
    assert [plain(t) for t in ("##ing", "▁Zug", "Ġcold", "late</w>", "late")] == ["ing", "Zug", "cold", "late", "late"]


def test_words_come_in_the_order_of_their_file_and_the_first_of_two_counts(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 0\nzebra 0 1\nthe 5 5\nannual 1 1\n", encoding="utf-8")
    found = read_word_vectors("v.txt", tmp_path)
    assert list(found.words) == ["the", "zebra", "annual"] and found.find("The").tolist() == [1, 0]
