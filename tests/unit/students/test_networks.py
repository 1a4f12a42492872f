"""Student networks: padding changes nothing, order matters where it should, and folders give them back."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_encoders import tiny_encoder

from limbeck.scorer import Scorer
from limbeck.students.bilstm import reversed_order
from limbeck.students.network import WIDTHS, Plan, token_vectors_of
from limbeck.students.pieces import learn_pieces, pieces_of_encoder
from limbeck.students.registry import NETWORKS
from limbeck.students.scorer import StudentScorer, load_student
from limbeck.students.transformer import Transformer, keep_layers, spread
from limbeck.teach.network import Encoder
from limbeck.training.examples import unlabelled
from limbeck.training.loop import predict
from limbeck.training.outputs import MANY, ManyTexts

WORDS = ["late", "train", "wifi", "cold", "seat", "kind", "staff", "again"]
PLAN = Plan(labels=3, vocabulary=40, vectors=16, width=16, dropout=0.3, pad_id=1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), WORDS, layers=4)


def network(kind: str, encoder: Path):
    torch.manual_seed(3)
    if kind == "transformer":
        small = Encoder(encoder)
        keep_layers(small, 2)
        return Transformer(small, PLAN)
    return NETWORKS[kind](PLAN)


KINDS = [*NETWORKS, "transformer"]


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind, encoder):
    student = network(kind, encoder).eval()
    ids = torch.tensor([[0, 5, 6, 7, 2], [0, 8, 2, 1, 1]])
    mask = (ids != 1).long()
    wide = torch.nn.functional.pad(ids, (0, 4), value=1)
    with torch.no_grad():
        together = student(ids, mask)
        assert student(wide, (wide != 1).long()) == pytest.approx(together, abs=1e-5)
        assert student(ids[1:, :3], mask[1:, :3]) == pytest.approx(together[1:], abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_many_texts_get_the_answers_of_few(kind, encoder):
    student = network(kind, encoder)
    rng = np.random.default_rng(0)
    examples = unlabelled([rng.integers(2, 12, size=rng.integers(1, 30)).astype(np.int32) for _ in range(MANY)], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is exported
        many = predict(ManyTexts(student), examples, 1, False)
    assert many == pytest.approx(predict(student, examples, 1, False), abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_bag_is_blind_to_order(kind, encoder):
    student = network(kind, encoder).eval()
    mask = torch.ones(1, 5, dtype=torch.long)
    with torch.no_grad():
        there, back = (student(torch.tensor([ids]), mask) for ids in ([0, 5, 6, 7, 2], [0, 7, 6, 5, 2]))
    assert torch.allclose(there, back, atol=1e-5) == (kind == "bag")


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_tokens_that_no_text_has_may_be_put_aside(kind, encoder):
    student = network(kind, encoder).eval()
    ids = torch.tensor([[0, 5, 9, 7, 2], [0, 9, 2, 1, 1]])
    mask = (ids != 1).long()
    before, was = student(ids, mask).detach(), {n: p.detach().clone() for n, p in student.named_parameters()}
    for table in token_vectors_of(student):
        table.narrow(torch.tensor([0, 1, 2, 5, 7, 9]))
    assert student.tokens.table.weight.shape == (6, PLAN.vectors)
    assert student(ids, mask).detach() == pytest.approx(before, abs=1e-6)
    with torch.no_grad():
        student.tokens.table.weight[5] += 1.0  # token 9
    for table in token_vectors_of(student):
        table.widen()
    now = dict(student.named_parameters())
    assert now.keys() == was.keys()
    moved = (now["tokens.table.weight"].detach() - was["tokens.table.weight"]).abs().sum(dim=1)
    assert moved.nonzero().ravel().tolist() == [9]
    with torch.no_grad():
        again = student(ids, mask)
        student.lower(torch.tensor([0.5, 0.0, 2.0]))
        assert student(ids, mask) == pytest.approx(again - torch.tensor([0.5, 0.0, 2.0]), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_gets_a_gradient(kind, encoder):
    student = network(kind, encoder)
    ids = torch.tensor([[0, 5, 6, 7, 2]])
    student(ids, torch.ones_like(ids)).sum().backward()
    idle = [n for n, p in student.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    # The pooler of an encoder is not read, and a bias before a softmax cancels out.
    assert [name for name in idle if "pooler" not in name and not name.endswith(("pool.weight.bias", "key.bias"))] == []


def test_a_text_is_turned_round_within_its_length():
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    assert reversed_order(mask).tolist() == [[2, 1, 0, 3], [3, 2, 1, 0]]


def test_layers_are_spread_evenly_and_the_last_stays():
    assert spread(6, 3) == [1, 3, 5]
    assert spread(12, 4) == [2, 5, 8, 11]
    assert spread(6, 1) == [5]
    assert spread(3, 9) == [0, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_gives_the_student_back(kind, encoder, tmp_path):
    pieces = pieces_of_encoder(encoder, 16)
    plan = Plan(3, pieces.size, 16, 16, 0.3, pieces.pad_id)
    torch.manual_seed(3)
    net = network(kind, encoder) if kind == "transformer" else NETWORKS[kind](plan)
    net.learn_projection(16, 8)
    scorer = StudentScorer(kind, ("a", "b", "c"), ("whitespace",), False, plan, pieces, net)
    scorer.save(tmp_path)
    assert not [f for f in tmp_path.rglob("*") if f.suffix in (".pkl", ".bin", ".pt")]
    back = load_student(tmp_path)
    texts = ["late  train", "cold seat again " * 50, "", "unheard-of words"]
    assert isinstance(back, Scorer) and back.labels == ("a", "b", "c")
    assert back.predict_proba(texts) == pytest.approx(scorer.predict_proba(texts), abs=1e-6)
    assert back.predict_proba([]).shape == (0, 3)
    assert back.parameters == scorer.parameters
    assert back.parameters == sum(p.numel() for n, p in net.named_parameters() if "projection" not in n)


def test_a_bilstm_of_medium_size_has_at_most_five_million_parameters():
    plan = Plan(28, 30_522, WIDTHS["medium"], WIDTHS["medium"], 0.2, 0)
    assert sum(p.numel() for p in NETWORKS["bilstm"](plan).parameters()) < 5_000_000


def test_learnt_pieces_read_what_they_were_learnt_from():
    texts = ["Verspätung in München", "die Verspätung war groß", "München ist groß"] * 3
    pieces = learn_pieces(texts, 120, 12)
    ids = pieces.encode(["verspätung münchen", "groß " * 100, "xyz"])
    assert len(ids[1]) == 12 and pieces.vocabulary[ids[0][1]] == "▁verspätung"
    assert pieces.vocabulary[ids[0][0]] == "[CLS]" and pieces.vocabulary[ids[0][-1]] == "[SEP]"
    again = learn_pieces(texts, 120, 12)
    assert again.vocabulary == pieces.vocabulary and np.array_equal(
        again.encode(texts[:1])[0], pieces.encode(texts[:1])[0]
    )
