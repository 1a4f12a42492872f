"""The training loop: learns, stops in time, survives kills to the same result, notices divergence."""

import numpy as np
import pytest
import torch
from tiny_encoders import tiny_encoder

from limbeck.config import TrainSettings
from limbeck.errors import BadSetting
from limbeck.measure import average_precision
from limbeck.store import Store
from limbeck.teach.network import Classifier, Encoder
from limbeck.training import precision
from limbeck.training.checkpoint import Checkpoints
from limbeck.training.examples import Examples, rows_of_epoch
from limbeck.training.lesson import LabelledLesson
from limbeck.training.loop import Job, fit, predict
from limbeck.training.losses import masked_bce, masked_softmax, soft_bce
from limbeck.training.tokens import Tokens

WORDS = [f"w{i}" for i in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), WORDS)


def examples(folder, count: int, seed: int, partial: bool = True) -> Examples:
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(count)]
    labels = np.array([["w1" in t.split() or "w2" in t.split(), "w3" in t.split()] for t in texts], dtype=np.float32)
    if partial:
        labels[rng.random(labels.shape) < 0.3] = np.nan
    return Examples(Tokens(folder, 32).encode(texts), labels, ["a" if i % 4 else "b" for i in range(count)])


def job(folder, **settings) -> Job:
    chosen = TrainSettings(**{"epochs": 6, "batch": 16, "rate": 3e-3, "head_rate": 1e-2, **settings})
    return Job(
        LabelledLesson(examples(folder, 240, 1), chosen, pad_id=1),
        examples(folder, 60, 2),
        examples(folder, 80, 3, partial=False),
        chosen,
        seed=5,
        pad_id=1,
    )


def model(folder, **options) -> Classifier:
    torch.manual_seed(7)
    return Classifier(Encoder(folder), labels=2, **options)


def test_steps_may_be_given_in_the_place_of_epochs(folder):
    fitted = fit(model(folder), job(folder, steps=23, patience=99))
    assert [told["step"] for told in fitted.history] == [3, 6, 9, 12, 15, 18, 21, 23]


def test_it_learns_what_partial_labels_say(folder):
    network = model(folder)
    fitted = fit(network, job(folder))
    unseen = examples(folder, 150, 9, partial=False)
    proba = predict(network, unseen, 1, one_class=False)
    assert min(average_precision(unseen.labels[:, c], proba[:, c]) for c in (0, 1)) > 0.9
    assert fitted.score == max(h["f1"] for h in fitted.history) > 0.8
    assert fitted.thresholds.shape == (2,) and fitted.history[0]["best"]


def test_one_process_trains_in_several_precisions(folder):
    scores = {}
    for numbers in ("no", "bf16", "no"):
        fitted = fit(model(folder), job(folder, precision=numbers))
        assert fitted.score > 0.8, numbers
        assert scores.setdefault(numbers, fitted.score) == fitted.score
    assert all(weights.dtype == torch.float32 for weights in fitted.weights.values())


def test_auto_is_what_the_processor_multiplies(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for fast, expected in ((True, "bf16"), (False, "no")):
        monkeypatch.setattr(precision, "multiplies_bf16", lambda fast=fast: fast)
        assert precision.precision_of("auto") == expected
    assert precision.precision_of("no") == "no"
    with pytest.raises(BadSetting, match="GPU"):
        precision.precision_of("fp16")


def test_patience_begins_when_something_is_found(folder):
    late = iter([0.0, 0.0, 0.0, 0.0, 0.5, 0.4, 0.4, 0.9])

    class FindsLate(Job):
        def judge(self, model, part, device):
            return (next(late) if part is self.dev else None), np.full(2, 0.5)

    told = job(folder, epochs=20, patience=2)
    fitted = fit(model(folder), FindsLate(told.lesson, told.fold, told.dev, told.settings, seed=5, pad_id=1))
    assert [entry["f1"] for entry in fitted.history] == [0.0, 0.0, 0.0, 0.0, 0.5, 0.4, 0.4] and fitted.score == 0.5


def test_patience_ends_it_and_the_best_weights_come_back(folder):
    network = model(folder)
    fitted = fit(network, job(folder, epochs=40, patience=2))
    assert len(fitted.history) < 40
    best = max(fitted.history, key=lambda h: h["f1"])
    assert fitted.history[-3:][0] is best or fitted.history.index(best) == len(fitted.history) - 3
    assert all(torch.equal(dict(network.named_parameters())[name], weights) for name, weights in fitted.weights.items())


class Killed(BaseException):
    """Stands for a process that ends."""


@pytest.mark.parametrize("frozen", [0, 1])
def test_a_run_cut_in_the_middle_of_an_epoch_ends_with_the_same_weights(folder, tmp_path, frozen, monkeypatch):
    settings = {"epochs": 3, "checkpoint_seconds": 1e-6}
    whole_network = model(folder, frozen=frozen)
    whole = fit(whole_network, job(folder, **settings))
    checkpoints = Checkpoints(Store(tmp_path), "run")
    for cut_at in (4, 9, 23):
        save = checkpoints.save

        def dying_save(progress, *rest, cut_at=cut_at, save=save):
            save(progress, *rest)
            if progress.step >= cut_at:
                raise Killed

        monkeypatch.setattr(checkpoints, "save", dying_save)
        with pytest.raises(Killed):
            fit(model(folder, frozen=frozen), job(folder, **settings), checkpoints)
        monkeypatch.undo()
    network = model(folder, frozen=frozen)
    resumed = fit(network, job(folder, **settings), checkpoints)
    assert resumed.thresholds.tolist() == whole.thresholds.tolist()
    assert [h["f1"] for h in resumed.history] == [h["f1"] for h in whole.history]
    assert all(torch.equal(resumed.weights[name], tensor) for name, tensor in whole.weights.items())
    assert len(list((tmp_path / "training" / "run").iterdir())) == 1


def test_a_run_that_diverges_is_started_again_at_a_lower_rate(folder, monkeypatch):
    network = model(folder)
    calls = 0
    forward = network.forward

    def sometimes_nan(*arguments):
        nonlocal calls
        calls += network.training
        logits = forward(*arguments)
        return logits * float("nan") if network.training and calls == 20 else logits

    monkeypatch.setattr(network, "forward", sometimes_nan)
    fitted = fit(network, job(folder))
    assert fitted.restarts == 1 and fitted.score > 0.6
    assert all(torch.isfinite(tensor).all() for tensor in fitted.weights.values())


def test_known_outputs_of_frozen_layers_give_the_same_training(folder):
    def states(network, data):
        with torch.no_grad():
            return [
                network.encoder.eval()
                .all_layers(torch.tensor(ids[None].astype(np.int64)), torch.ones(1, len(ids), dtype=torch.long))[1][0]
                .numpy()
                for ids in data.ids
            ]

    plain = job(folder, epochs=2, dropout=0.0)
    network = model(folder, frozen=1).eval()
    sets = plain.lesson.examples, plain.fold, plain.dev
    train, *watched = [Examples(e.ids, e.labels, e.sources, states(network, e)) for e in sets]
    proba = predict(network, watched[1], 1, one_class=False)
    assert np.allclose(proba, predict(network, plain.dev, 1, one_class=False), atol=1e-5)
    lesson = LabelledLesson(train, plain.settings, pad_id=1)
    fitted = fit(model(folder, frozen=1), Job(lesson, *watched, plain.settings, 5, 1))
    assert fitted.score > 0.3


class TestLosses:
    labels = torch.tensor([[1.0, float("nan")], [0.0, float("nan")], [float("nan"), 1.0]])

    def test_each_category_has_the_same_say_and_unknown_cells_have_none(self):
        logits = torch.tensor([[0.5, 9.0], [-1.0, -9.0], [7.0, 0.25]], requires_grad=True)
        loss = masked_bce(logits, self.labels, torch.ones(2))
        first = (np.log1p(np.exp(-0.5)) + np.log1p(np.exp(-1.0))) / 2
        second = np.log1p(np.exp(-0.25))
        assert loss.item() == pytest.approx((first + second) / 2, abs=1e-6)
        loss.backward()
        assert (logits.grad[torch.isnan(self.labels)] == 0).all() and not torch.isnan(logits.grad).any()

    def test_a_batch_without_a_known_label_costs_nothing(self):
        assert masked_bce(torch.zeros(2, 2), torch.full((2, 2), float("nan")), torch.ones(2)).item() == 0
        assert masked_softmax(torch.zeros(2, 2), torch.full((2, 2), float("nan")), torch.ones(2)).item() == 0

    def test_positive_weight_makes_a_missed_positive_dearer(self):
        logits = torch.full((3, 2), -1.0)
        weighed = masked_bce(logits, self.labels, torch.full((2,), 3.0))
        assert weighed > masked_bce(logits, self.labels, torch.ones(2))

    def test_guesses_pull_towards_themselves_and_leave_the_rest_alone(self):
        logits = torch.tensor([[0.0, 2.0], [3.0, -2.0]], requires_grad=True)
        guesses = torch.tensor([[0.5, float("nan")], [0.9, float("nan")]])
        loss = soft_bce(logits, guesses)
        sure = 1 / (1 + np.exp(-3.0))
        assert loss.item() == pytest.approx((np.log(2) - 0.9 * np.log(sure) - 0.1 * np.log(1 - sure)) / 2, abs=1e-6)
        loss.backward()
        assert logits.grad[0, 0] == 0 and logits.grad[1, 0] > 0
        assert (logits.grad[:, 1] == 0).all()

    def test_focal_loss_plays_down_what_is_right(self):
        right, wrong = torch.tensor([[4.0]]), torch.tensor([[-4.0]])
        yes = torch.ones(1, 1)
        plain = [masked_bce(x, yes, torch.ones(1)).item() for x in (right, wrong)]
        focal = [masked_bce(x, yes, torch.ones(1), focal=2.0).item() for x in (right, wrong)]
        assert focal[0] / plain[0] < 0.01 and focal[1] / plain[1] > 0.9


class TestRowsOfEpoch:
    labels = np.array([[1.0], [0.0], [0.0], [0.0], [0.0]], dtype=np.float32)

    @pytest.mark.parametrize(("how", "positives", "total"), [("none", 1, 5), ("over", 4, 8), ("under", 1, 2)])
    def test_resampling_evens_out_rows_with_and_without_a_positive(self, how, positives, total):
        rows = rows_of_epoch(self.labels, [], how, False, np.random.default_rng(0))
        assert len(rows) == total and (rows == 0).sum() == positives

    def test_sources_can_be_shown_equally_often(self):
        labels, sources = np.zeros((1000, 1), np.float32), ["big"] * 900 + ["small"] * 100
        rows = rows_of_epoch(labels, sources, "none", True, np.random.default_rng(0))
        assert len(rows) == 1000 and 0.4 < (rows >= 900).mean() < 0.6
