"""Adapting an encoder to the pool: it learns the texts, stays an encoder like any other, and survives kills."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from teaching_project import pipeline, teaching_project
from tiny_encoders import CONFIGS, SPECIAL, tiny_encoder
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, GPT2Config

from limbeck.config import AdaptSettings
from limbeck.errors import BadSetting, TooFewRows
from limbeck.store import Store
from limbeck.teach.adapt import NOT_ASKED, Masking, adapt, masked_model
from limbeck.teach.encoders import find_encoder
from limbeck.teach.kinds import load_teacher
from limbeck.teach.network import Encoder
from limbeck.training.checkpoint import Checkpoints
from limbeck.training.tokens import Tokens

SENTENCES = ["the train was late again", "we sat still and cold", "so the old train never came at all"]
WORDS = " ".join(SENTENCES).split()
TEXTS = [" ".join(SENTENCES[(i + k) % 3] for k in range(1 + i % 4)) for i in range(120)]


def run(folder, out, texts=TEXTS, store=None, **settings):
    chosen = AdaptSettings(**{"on": True, "epochs": 1, "batch": 16, "rate": 1e-3, **settings})
    store = store or Store(out.parent / "store")
    return adapt(find_encoder(str(folder)), texts, chosen, 24, 5, store, "run", out)


def weights_of(folder):
    return load_file(folder / "model.safetensors")


def vectors(folder, texts=TEXTS[:1]):
    ids = torch.from_numpy(np.stack(Tokens(folder, 24).encode(texts)).astype(np.int64))
    with torch.no_grad():
        return Encoder(folder).eval()(ids, torch.ones_like(ids))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tiny_encoder(tmp_path_factory.mktemp("encoder"), WORDS)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
    (folder / "modules.json").write_text('[{"idx": 0}]', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def adapted(original, tmp_path_factory):
    out = tmp_path_factory.mktemp("work") / "adapted"
    return out, run(original, out, epochs=12, rate=5e-3)


def test_texts_that_it_never_saw_become_easier_to_guess(adapted):
    _, figures = adapted
    assert figures["texts"] == len(TEXTS)
    assert figures["steps"] == 12 * 8  # 114 texts after 5 % were held out, 16 a batch
    assert figures["loss_before"] == pytest.approx(np.log(len(set(WORDS)) + len(SPECIAL)), abs=0.5)
    assert figures["loss_after"] < 0.6 * figures["loss_before"]
    assert figures["history"][-1]["step"] == figures["steps"]
    assert figures["history"][-1]["loss"] < figures["history"][0]["loss"]
    assert json.loads(json.dumps(figures)) == figures


def test_the_folder_is_an_encoder_like_any_other(original, adapted):
    out, _ = adapted
    assert find_encoder(str(out)).tokenizer == out / "tokenizer.json"
    assert json.loads((out / "config.json").read_text())["architectures"] == ["BertModel"]
    new, old = vectors(out), vectors(original)
    assert torch.isfinite(new).all() and (new - old).abs().max() > 0.01
    assert [ids.tolist() for ids in Tokens(out, 9).encode(TEXTS)] == [
        ids.tolist() for ids in Tokens(original, 9).encode(TEXTS)
    ]


def test_what_adapting_does_not_touch_is_carried_over(original, adapted):
    out, _ = adapted
    assert Encoder(out).pooling == "first"
    assert (out / "modules.json").read_bytes() == (original / "modules.json").read_bytes()
    tokenizer = json.loads((out / "tokenizer.json").read_text())
    assert tokenizer["truncation"] is None, "the length that adapting cut at must not stay in the tokeniser"
    new, old = weights_of(out), weights_of(original)
    assert new.keys() == old.keys()
    assert torch.equal(new["pooler.dense.weight"], old["pooler.dense.weight"])


@pytest.mark.parametrize("kind", CONFIGS)
def test_training_starts_from_the_pretrained_weights_with_tied_outputs(tmp_path, kind):
    folder = tiny_encoder(tmp_path, WORDS, kind)
    with torch.no_grad():  # weights that no fresh start could give
        noisy = AutoModel.from_pretrained(folder)
        for parameter in noisy.parameters():
            parameter.add_(torch.randn_like(parameter))
        noisy.save_pretrained(folder)
    model = masked_model(find_encoder(str(folder)), Encoder(folder))
    pretrained = AutoModel.from_pretrained(folder).state_dict()
    assert all(torch.equal(tensor, pretrained[name]) for name, tensor in model.base_model.state_dict().items())
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_outputs_that_the_file_holds_are_used(tmp_path):
    folder = tiny_encoder(tmp_path, WORDS)
    whole = AutoModelForMaskedLM.from_pretrained(folder)
    torch.nn.init.normal_(whole.cls.predictions.transform.dense.weight)
    whole.save_pretrained(folder)
    model = masked_model(find_encoder(str(folder)), Encoder(folder))
    assert all(torch.equal(tensor, whole.state_dict()[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_architecture_adapts_and_loads_again(tmp_path, kind):
    folder, out = tiny_encoder(tmp_path / "encoder", WORDS, kind), tmp_path / "adapted"
    figures = run(folder, out, TEXTS[:40])
    assert figures["loss_after"] < figures["loss_before"]
    new, old = weights_of(out), weights_of(folder)
    assert new.keys() == old.keys()
    unchanged = {name for name in new if torch.equal(new[name], old[name])}
    assert not {name for name in unchanged if not name.startswith("pooler.")}
    assert torch.isfinite(vectors(out)).all()


def test_a_half_precision_encoder_is_adapted_and_kept_in_full(tmp_path):
    folder, out = tiny_encoder(tmp_path / "encoder", WORDS), tmp_path / "adapted"
    AutoModel.from_pretrained(folder).bfloat16().save_pretrained(folder)
    run(folder, out, TEXTS[:20])
    assert {tensor.dtype for tensor in weights_of(out).values()} == {torch.float32}
    assert vectors(out).dtype == torch.float32


class Killed(BaseException):
    """Stands for a process that ends."""


def test_a_run_killed_in_the_middle_of_epochs_ends_with_the_same_bits(original, tmp_path, monkeypatch):
    monkeypatch.setattr("limbeck.teach.adapt.CHECKPOINT_SECONDS", -1.0)
    whole = run(original, tmp_path / "whole", TEXTS[:60], Store(tmp_path / "a"), epochs=3)
    assert whole["steps"] == 12
    save, store = Checkpoints.save, Store(tmp_path / "b")
    for cut_at in (2, 7):

        def dying_save(self, progress, *rest, cut_at=cut_at):
            save(self, progress, *rest)
            if progress.step == cut_at:
                raise Killed

        monkeypatch.setattr(Checkpoints, "save", dying_save)
        with pytest.raises(Killed):
            run(original, tmp_path / "resumed", TEXTS[:60], store, epochs=3)
        assert not (tmp_path / "resumed").exists()
    steps = []
    monkeypatch.setattr(Checkpoints, "save", lambda self, progress, *rest: steps.append(progress.step))
    resumed = run(original, tmp_path / "resumed", TEXTS[:60], store, epochs=3)
    assert steps == [8, 9, 10, 11, 12]
    assert resumed == whole
    assert (tmp_path / "resumed" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()


class TestMasking:
    mask = Masking(0.15, mask_id=4, special=torch.arange(5), words=torch.arange(5, 1000))

    def apply(self, ids, attended=None):
        attended = torch.ones_like(ids) if attended is None else attended
        return self.mask(ids, attended, torch.Generator().manual_seed(1))

    def test_the_share_is_split_80_10_10(self):
        ids = torch.randint(5, 1000, (400, 100), generator=torch.Generator().manual_seed(0))
        masked, guess = self.apply(ids)
        asked = guess != NOT_ASKED
        assert (asked.sum(dim=1) == 15).all()
        assert torch.equal(masked[~asked], ids[~asked]) and torch.equal(guess[asked], ids[asked])
        hidden = (masked[asked] == 4).float().mean()
        same = (masked[asked] == ids[asked]).float().mean()
        assert hidden == pytest.approx(0.8, abs=0.02) and same == pytest.approx(0.1, abs=0.02)
        assert not ((masked[asked] < 5) & (masked[asked] != 4)).any(), "no special token in a word's place"

    def test_special_tokens_and_padding_are_never_asked_for(self):
        ids = torch.tensor([[0, 7, 3, 2, 7, 7], [0, 8, 9, 2, 1, 1]] * 200)
        attended = torch.tensor([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0]] * 200)
        masked, guess = self.apply(ids, attended)
        words = (ids >= 5) & attended.bool()
        assert (guess[~words] == NOT_ASKED).all() and torch.equal(masked[~words], ids[~words])

    def test_even_the_shortest_text_has_something_to_guess(self):
        _, guess = self.apply(torch.tensor([[0, 7, 2]] * 50))
        assert (guess[:, 1] == 7).all()


class TestRefusals:
    def test_a_tokeniser_without_a_mask_token(self, tmp_path):
        folder = tiny_encoder(tmp_path / "encoder", WORDS)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        tokenizer.mask_token = None
        tokenizer.save_pretrained(folder)
        with pytest.raises(BadSetting, match="no mask token. Set adapt.on = false"):
            run(folder, tmp_path / "adapted")

    def test_an_architecture_without_a_masked_form(self, tmp_path):
        folder = tiny_encoder(tmp_path / "encoder", WORDS)
        shape = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
        AutoModel.from_config(GPT2Config(vocab_size=len(SPECIAL) + len(WORDS), **shape)).save_pretrained(folder)
        with pytest.raises(BadSetting, match="can't guess masked words. Set adapt.on = false"):
            run(folder, tmp_path / "adapted")

    @pytest.mark.parametrize(
        ("texts", "said"),
        [([], "the pool is empty"), (["", "", "zzz yyy"], "has 0 with words"), (TEXTS[:1], "has 1 with words")],
    )
    def test_a_pool_with_nothing_to_read(self, original, tmp_path, texts, said):
        with pytest.raises(TooFewRows, match=said):
            run(original, tmp_path / "adapted", texts)

    def test_a_rate_that_diverges_leaves_no_encoder(self, original, tmp_path, monkeypatch):
        monkeypatch.setattr("limbeck.teach.adapt.CHECKPOINT_SECONDS", -1.0)
        with pytest.raises(BadSetting, match=r"1e\+36: its loss after [1-7] of 8 steps is nan. Lower adapt.rate"):
            run(original, tmp_path / "adapted", rate=1e36)
        assert not (tmp_path / "adapted").exists()
        assert not list((tmp_path / "store").glob("training/run/*")), "a lower rate must not resume from there"

    def test_two_texts_are_enough(self, original, tmp_path):
        assert run(original, tmp_path / "adapted", TEXTS[:2])["steps"] == 1


class TestStep:
    @pytest.fixture
    def project(self, tmp_path):
        return teaching_project(tmp_path / "p")

    def chain(self, project, *more):
        return pipeline(project, "partial", "adapt.on=true", "adapt.batch=8", "train.epochs=2", "teach.folds=1", *more)

    def test_teaching_starts_from_the_adapted_encoder(self, project):
        chain = self.chain(project)
        chain.run(until="teach")
        teacher = load_teacher(chain.folder("teach"), project)
        assert teacher.card.encoder.folder == chain.folder("adapt") / "encoder"
        assert weights_of(teacher.card.encoder.folder).keys() == weights_of(project / "encoder").keys()
        assert np.isfinite(teacher.predict_proba(["the wifi dropped"])).all()
        figures = {state.step.name: state.figures for state in chain.status()}["adapt"]
        assert figures["texts"] == 50 and figures["loss_after"] < figures["loss_before"]
        assert not list((project / ".limbeck" / "training").glob("*/*")), "what is kept needs no checkpoint"

    def test_another_label_does_not_adapt_again_and_judges_are_not_read(self, project):
        dev = (project / "dev.jsonl").read_text(encoding="utf-8").splitlines()
        with (project / "pool.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"text": json.loads(dev[0])["text"]}) + "\n")
        chain = self.chain(project)
        chain.run(until="adapt")
        assert {state.step.name: state.figures for state in chain.status()}["adapt"]["texts"] == 50
        [kept] = (project / ".limbeck" / "tasks" / "adapted").iterdir()
        with (project / "labels" / "heat.csv").open("a", encoding="utf-8") as file:
            file.write("the heating was off and on,1\n")
        self.chain(project).run(until="adapt")
        assert list((project / ".limbeck" / "tasks" / "adapted").iterdir()) == [kept]
