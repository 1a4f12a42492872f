"""Losses of distillation, against numbers computed by hand."""

import numpy as np
import pytest
import torch

from limbeck.distill.augment import augmented
from limbeck.distill.losses import (
    hard_classes,
    hard_labels,
    same_attention,
    same_direction,
    same_relations,
    soft_classes,
    soft_labels,
)

NAN = float("nan")


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(-x))


def test_soft_labels_are_softened_on_both_sides_and_scaled_back():
    logits, guess, t = torch.tensor([[1.5, 0.3]], requires_grad=True), 0.8, 2.0
    loss = soft_labels(logits, torch.tensor([[guess, NAN]]), t)
    target, student = sigmoid(np.log(guess / (1 - guess)) / t), sigmoid(1.5 / t)
    expected = -(t**2) * (target * np.log(student) + (1 - target) * np.log(1 - student))
    assert loss.item() == pytest.approx(expected, abs=1e-5)
    loss.backward()
    assert logits.grad[0, 1] == 0


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_soft_losses_are_lowest_where_the_student_says_what_the_teacher_says(temperature):
    guesses = torch.tensor([[0.7, 0.2, 0.1]])
    labels, classes = torch.logit(guesses).requires_grad_(), guesses.log().requires_grad_()
    soft_labels(labels, guesses, temperature).backward()
    of_classes = soft_classes(classes, guesses, temperature)
    of_classes.backward()
    assert labels.grad.abs().max() < 1e-6 and classes.grad.abs().max() < 1e-6
    assert of_classes.item() == pytest.approx(0, abs=1e-6)


def test_soft_classes_are_a_divergence_over_classes():
    guesses, logits = torch.tensor([[0.7, 0.2, 0.1], [NAN, NAN, NAN]]), torch.tensor([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    expected = sum(p * np.log(p / (1 / 3)) for p in (0.7, 0.2, 0.1))
    assert soft_classes(logits, guesses, 1.0).item() == pytest.approx(expected, abs=1e-5)
    assert soft_classes(logits[1:], guesses[1:], 1.0).item() == 0


def test_hard_losses_take_the_decision():
    guesses, limits = torch.tensor([[0.4, 0.4], [0.1, NAN]]), torch.tensor([0.3, 0.5])
    logits = torch.tensor([[2.0, 1.0], [2.0, 5.0]])
    first = (np.log1p(np.exp(-2.0)) + np.log1p(np.exp(2.0))) / 2
    assert hard_labels(logits, guesses, limits).item() == pytest.approx((first + np.log1p(np.exp(1.0))) / 2, abs=1e-5)
    classes = hard_classes(torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([[0.6, 0.4], [NAN, NAN]]))
    assert classes.item() == pytest.approx(np.log1p(np.exp(-2.0)), abs=1e-5)


def test_relations_may_be_the_same_in_another_width():
    teacher = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    turned = torch.cat([teacher * 5, torch.zeros(3, 4)], dim=1)
    assert same_relations(turned, teacher).item() == pytest.approx(0, abs=1e-6)
    assert same_relations(torch.ones(3, 2), teacher).item() > 0.1
    assert same_direction(teacher * 3, teacher).item() == pytest.approx(0, abs=1e-6)
    assert same_direction(-teacher, teacher).item() == pytest.approx(2, abs=1e-6)


def test_attention_is_compared_inside_the_text_with_the_layer_that_matches():
    layers = [torch.rand(1, 2, 3, 3) for _ in range(4)]
    mask = torch.tensor([[1, 1, 0]])
    assert same_attention([layers[1], layers[3]], layers, mask).item() == 0
    outside = layers[3].clone()
    outside[:, :, 2, :] += 5
    assert same_attention([layers[1], outside], layers, mask).item() == 0
    assert same_attention([layers[0], layers[3]], layers, mask).item() > 0


def test_augmenting_leaves_out_and_hides_about_the_share_that_was_asked_for():
    ids = np.arange(1000, dtype=np.int32)
    shown = augmented(ids, 0.2, 0.1, 5000, np.random.default_rng(0))
    assert shown[0] == 0 and shown[-1] == 999
    assert 740 < len(shown) < 860 and 60 < (shown == 5000).sum() < 140
    rest = shown[shown != 5000]
    assert (np.diff(rest) > 0).all()
    assert np.array_equal(augmented(ids, 0, 0, None, np.random.default_rng(0)), ids)
    assert (augmented(ids, 0, 0.5, None, np.random.default_rng(0)) == ids).all()
