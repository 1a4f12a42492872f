"""A student's lesson: how labelled and unlabelled texts share a batch, and what each loss does."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from limbeck.config import DistillSettings
from limbeck.distill.lesson import DistillLesson
from limbeck.students.network import Plan
from limbeck.students.registry import NETWORKS
from limbeck.training.examples import Examples
from limbeck.training.loop import Job, fit, predict

NAN = np.float32(np.nan)


def lesson(labelled=40, alone=200, vectors=None, **settings) -> DistillLesson:
    rng = np.random.default_rng(0)
    ids = [rng.integers(5, 40, rng.integers(4, 20)).astype(np.int32) for _ in range(labelled + alone)]
    truth = np.array([[(i == 7).any(), (i == 9).any()] for i in ids], dtype=np.float32)
    labels = np.where(np.arange(len(ids))[:, None] < labelled, truth, NAN)
    guesses = np.where(np.arange(len(ids))[:, None] < labelled, NAN, 0.9 * truth + 0.05)
    examples = Examples(ids, labels, guesses=guesses.astype(np.float32))
    chosen = DistillSettings(**{"batch": 20, "labelled": 0.25, **settings})
    limits = np.full(2, 0.5, dtype=np.float32)
    none = np.zeros(2, dtype=np.float32)
    return DistillLesson(examples, labelled, chosen, 1, 4, False, limits, none, none, vectors)


def student(kind="cnn"):
    torch.manual_seed(0)
    return NETWORKS[kind](Plan(2, 40, 16, 16, 0.0, 1))


def test_every_batch_holds_both_and_an_epoch_shows_every_unlabelled_text_once():
    made = lesson()
    batches = made.batches(np.random.default_rng(1))
    shown = np.concatenate(batches)
    assert sorted(shown[shown >= 40]) == list(range(40, 240))
    assert all((rows < 40).sum() == 5 for rows in batches)
    assert set(shown[shown < 40]) == set(range(40))
    lengths = made.examples.lengths
    assert np.mean([lengths[rows].std() for rows in batches]) < 0.6 * lengths.std()
    assert [b.tolist() for b in made.batches(np.random.default_rng(1))] == [b.tolist() for b in batches]


@pytest.mark.parametrize(("labelled", "alone", "share"), [(40, 0, 0.25), (0, 40, 0.25), (30, 40, 0.0)])
def test_without_shares_every_row_is_shown_once(labelled, alone, share):
    made = lesson(labelled, alone)
    made = replace(made, settings=made.settings.model_copy(update={"labelled": share}))
    assert sorted(np.concatenate(made.batches(np.random.default_rng(1)))) == list(range(labelled + alone))


def test_losses_add_up_by_their_weights():
    rows = np.arange(30, 60)

    def cost(**weights):
        nothing = {"task": 0.0, "soft": 0.0, "hard": 0.0, "drop_tokens": 0.0}
        torch.manual_seed(1)
        return lesson(**{**nothing, **weights}).loss(student().eval(), rows, torch.device("cpu")).item()

    parts = {name: cost(**{name: 1.0}) for name in ("task", "soft", "hard")}
    assert min(parts.values()) > 0 and cost() == 0
    together = cost(task=2.0, soft=0.5, hard=1.0)
    assert together == pytest.approx(2 * parts["task"] + 0.5 * parts["soft"] + parts["hard"], rel=1e-5)


def test_a_student_learns_from_guesses_alone():
    made = lesson(labelled=0, alone=600, epochs=30, head_rate=0.01, task=0.0)
    watched = lesson(labelled=120, alone=0).examples
    network = student()
    fit(network, Job(made, watched, watched, made.settings, 0, 1))
    proba = predict(network, watched, 1, one_class=False)
    assert ((proba > 0.5) == watched.labels).mean() > 0.9


@pytest.mark.parametrize("name", ["hidden", "relation"])
def test_a_student_can_be_pulled_towards_the_teachers_view(name):
    vectors = np.random.default_rng(3).normal(size=(240, 12)).astype(np.float32)
    made = lesson(vectors=vectors, task=0.0, soft=0.0, **{name: 1.0})
    network = student()
    network.learn_projection(32, 12)
    rows = np.arange(0, 60)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    costs = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = made.loss(network, rows, torch.device("cpu"))
        loss.backward()
        optimizer.step()
        costs.append(loss.item())
    assert costs[-1] < 0.7 * costs[0]
