"""Figures by hand on small matrices, and against scikit-learn on random ones."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from sklearn import metrics

from limbeck.errors import MeasureError
from limbeck.measure import decide, decide_classes, evaluate, evaluate_by_source, evaluate_classes

NAN = np.nan
NAMES = ("late", "dirty", "rude")

# Yes from 0.5 up. late: tp 1, fp 1, fn 1, tn 0; dirty: tp 1, fp 0, fn 0, tn 2; rude: nobody ever said yes.
TRUTH = np.array([[1, NAN, 0], [1, 1, NAN], [0, 0, NAN], [NAN, 0, NAN], [NAN, NAN, NAN]], dtype=np.float32)
PROBA = np.array([[0.9, 0.9, 0.1], [0.2, 0.5, 0.9], [0.7, 0.4, 0.9], [0.1, 0.0, 0.9], [0.9, 0.9, 0.9]])
HALF = np.full(3, 0.5)


def random_case(seed: int, rows: int = 120, labels: int = 6, unknown: float = 0.0):
    rng = np.random.default_rng(seed)
    truth = (rng.random((rows, labels)) < rng.uniform(0.05, 0.6, labels)).astype(np.float32)
    proba = np.clip(0.35 * truth + 0.7 * rng.random((rows, labels)), 0, 1).round(2)
    truth[rng.random((rows, labels)) < unknown] = NAN
    return truth, proba, rng.uniform(0.3, 0.8, labels), tuple(f"label {i}" for i in range(labels))


def test_figures_by_hand():
    figures = evaluate(TRUTH, PROBA, HALF, NAMES)
    late, dirty, rude = figures.labels
    assert (late.precision, late.recall, late.f1) == (0.5, 0.5, 0.5)
    assert (late.support, late.known, late.threshold) == (2, 3, 0.5)
    assert late.accuracy == pytest.approx(1 / 3)
    assert (dirty.precision, dirty.recall, dirty.f1, dirty.accuracy) == (1, 1, 1, 1)
    # Ranked 0.9 yes, 0.7 no, 0.2 yes: (1/1 + 2/3) / 2.
    assert late.average_precision == pytest.approx(5 / 6)
    assert dirty.average_precision == 1
    assert (rude.support, rude.known, rude.accuracy) == (0, 1, 1)
    assert math.isnan(rude.f1) and math.isnan(rude.precision) and math.isnan(rude.average_precision)
    assert (figures.macro_precision, figures.macro_recall, figures.macro_f1) == (0.75, 0.75, 0.75)
    assert figures.macro_average_precision == pytest.approx((5 / 6 + 1) / 2)
    # Pooled: tp 2, fp 1, fn 1, tn 3.
    assert figures.micro_precision == figures.micro_recall == figures.micro_f1 == pytest.approx(2 / 3)
    assert figures.hamming_loss == pytest.approx(2 / 7)
    assert figures.accuracy == pytest.approx(5 / 7)
    # Rows 1 and 2 are wrong somewhere; row 4 says nothing and does not count.
    assert figures.subset_loss == pytest.approx(2 / 4)
    assert (figures.rows, figures.known) == (4, 7)


def test_label_without_positives_is_skipped_or_counts_as_zero():
    skipped = evaluate(TRUTH, PROBA, HALF, NAMES)
    zero = evaluate(TRUTH, PROBA, HALF, NAMES, absent="zero")
    assert skipped.macro_f1 == 0.75
    assert zero.macro_f1 == 0.5
    assert zero.labels[2].f1 == zero.labels[2].average_precision == 0
    assert zero.macro_average_precision == pytest.approx((5 / 6 + 1) / 3)


def test_empty_ratios_are_zero_once_there_is_a_positive_or_a_prediction():
    truth = np.array([[1, 0], [0, 0]], dtype=np.float32)
    missed, invented = evaluate(truth, np.array([[0.1, 0.9], [0.1, 0.1]]), HALF[:2], ("missed", "invented")).labels
    assert (missed.precision, missed.recall, missed.f1) == (0, 0, 0)
    assert (invented.precision, invented.recall, invented.f1) == (0, 0, 0)


def test_nothing_positive_and_nothing_predicted_leaves_macro_and_micro_undefined():
    figures = evaluate(np.zeros((3, 2)), np.zeros((3, 2)), [0.5, 0.5], ("a", "b"))
    assert math.isnan(figures.macro_f1) and math.isnan(figures.micro_f1)
    assert figures.accuracy == 1 and figures.subset_loss == 0
    assert "macro_f1" not in figures.flat()
    assert evaluate(np.zeros((3, 2)), np.zeros((3, 2)), [0.5, 0.5], ("a", "b"), absent="zero").micro_f1 == 0


def test_a_probability_at_its_threshold_is_a_yes():
    assert decide(np.array([[0.5, 0.49]]), [0.5, 0.5]).tolist() == [[True, False]]
    assert decide(np.array([[0.0]]), [0.0]).tolist() == [[True]]


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_scikit_learn_on_complete_labels(seed):
    truth, proba, thresholds, names = random_case(seed)
    if seed % 2:
        truth[:, 2] = 0
    figures = evaluate(truth, proba, thresholds, names, absent="zero")
    predicted = (proba >= thresholds).astype(int)
    for average in ("macro", "micro"):
        expected = metrics.precision_recall_fscore_support(truth, predicted, average=average, zero_division=0)[:3]
        got = [getattr(figures, f"{average}_{part}") for part in ("precision", "recall", "f1")]
        assert got == pytest.approx(expected)
    assert figures.hamming_loss == pytest.approx(metrics.hamming_loss(truth, predicted))
    assert figures.subset_loss == pytest.approx(metrics.zero_one_loss(truth, predicted))
    assert figures.accuracy == pytest.approx(metrics.accuracy_score(truth.ravel(), predicted.ravel()))
    if not seed % 2:
        expected = metrics.average_precision_score(truth, proba, average="macro")
        assert figures.macro_average_precision == pytest.approx(expected)


@pytest.mark.parametrize("unknown", [0.3, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_each_label_agrees_with_scikit_learn_on_its_known_rows(seed, unknown):
    truth, proba, thresholds, names = random_case(seed, unknown=unknown)
    figures = evaluate(truth, proba, thresholds, names, absent="zero")
    for i, label in enumerate(figures.labels):
        known = ~np.isnan(truth[:, i])
        answers, predicted = truth[known, i], proba[known, i] >= thresholds[i]
        expected = metrics.precision_recall_fscore_support(answers, predicted, average="binary", zero_division=0)[:3]
        assert (label.precision, label.recall, label.f1) == pytest.approx(expected)
        assert label.accuracy == pytest.approx(metrics.accuracy_score(answers, predicted))
        if answers.any():
            expected = metrics.average_precision_score(answers, proba[known, i])
            assert label.average_precision == pytest.approx(expected)
    cells = ~np.isnan(truth)
    expected = metrics.f1_score(truth[cells], (proba >= thresholds)[cells], zero_division=0)
    assert figures.micro_f1 == pytest.approx(expected)


def test_classes_by_hand():
    truth = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [NAN, NAN, NAN]])
    # No probability reaches a half, yet each row gets a class; of equals the first wins.
    proba = np.array([[0.4, 0.3, 0.3], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4], [0.8, 0.1, 0.1]])
    figures = evaluate_classes(truth, proba, NAMES)
    assert [label.f1 for label in figures.labels] == pytest.approx([2 / 3, 0, 1])
    assert figures.subset_loss == pytest.approx(1 / 3)
    assert figures.micro_f1 == pytest.approx(2 / 3)
    assert math.isnan(figures.labels[0].threshold)
    assert figures.as_dict()["labels"][0]["threshold"] is None


@pytest.mark.parametrize("seed", range(4))
def test_classes_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, 4, 90)
    truth = np.eye(4)[chosen]
    proba = rng.dirichlet(np.ones(4), 90) * 0.6 + 0.4 * np.eye(4)[rng.permutation(chosen)]
    figures = evaluate_classes(truth, proba, ("a", "b", "c", "d"), absent="zero")
    guessed = decide_classes(proba).argmax(axis=1)
    expected = metrics.precision_recall_fscore_support(chosen, guessed, average="macro", zero_division=0)[:3]
    assert (figures.macro_precision, figures.macro_recall, figures.macro_f1) == pytest.approx(expected)
    assert 1 - figures.subset_loss == pytest.approx(metrics.accuracy_score(chosen, guessed))


def test_each_source_is_measured_alone():
    sources = ["mail", "web", "mail", "web", "empty"]
    by_source = evaluate_by_source(TRUTH, PROBA, HALF, NAMES, sources)
    assert list(by_source) == ["mail", "web"]
    expected = evaluate(TRUTH[[0, 2]], PROBA[[0, 2]], HALF, NAMES)
    assert by_source["mail"].as_dict() == expected.as_dict()
    assert evaluate_by_source(TRUTH, PROBA, HALF, NAMES, []) == {}
    with pytest.raises(MeasureError, match="2 sources for 5 rows"):
        evaluate_by_source(TRUTH, PROBA, HALF, NAMES, ["mail", "web"])


def test_figures_are_ready_for_json_and_for_tracking():
    figures = evaluate(TRUTH, PROBA, HALF, NAMES)
    plain = json.loads(json.dumps(figures.as_dict(), allow_nan=False))
    assert plain["macro_f1"] == 0.75
    assert plain["labels"][2] == {
        "name": "rude",
        "precision": None,
        "recall": None,
        "f1": None,
        "accuracy": 1.0,
        "average_precision": None,
        "support": 0,
        "known": 1,
        "threshold": 0.5,
    }
    flat = figures.flat()
    assert flat["macro_f1"] == 0.75 and flat["rows"] == 4.0 and "labels" not in flat
    assert all(isinstance(value, float) for value in flat.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"truth": np.full((5, 3), NAN)}, "No label of the 5 rows is known"),
        ({"truth": np.zeros((0, 3)), "proba": np.zeros((0, 3))}, "No label of the 0 rows is known"),
        ({"truth": np.full((5, 3), 2.0)}, r"truth\[0, 0\] is 2"),
        ({"truth": TRUTH[:, 0]}, r"truth has shape \(5,\)"),
        ({"proba": PROBA[:4]}, r"proba has shape \(4, 3\), but \(5, 3\) is needed"),
        ({"proba": PROBA * 2}, r"proba\[0, 0\] is 1.8 .*sigmoid"),
        ({"proba": -PROBA}, r"proba\[0, 0\] is -0.9"),
        ({"proba": np.where(PROBA == 0.2, NAN, PROBA)}, r"proba\[1, 0\] is nan"),
        ({"proba": [[1, 2], [3]]}, "proba can't be read"),
        ({"thresholds": [0.5]}, r"thresholds has shape \(1,\), but \(3,\) is needed"),
        ({"thresholds": [0.5, NAN, 0.5]}, r"thresholds\[1\] is nan"),
        ({"names": ("late",)}, "1 names for 3 labels"),
        ({"absent": "nan"}, "Use 'skip' or 'zero'"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place_and_a_way_out(change, message):
    arguments = {"truth": TRUTH, "proba": PROBA, "thresholds": HALF, "names": NAMES} | change
    with pytest.raises(MeasureError, match=message) as caught:
        evaluate(**arguments)
    assert caught.value.fix


def test_two_classes_in_one_row_are_refused():
    with pytest.raises(MeasureError, match="Row 1 of truth has more than one class"):
        evaluate_classes([[1, 0], [1, 1]], [[0.5, 0.5], [0.5, 0.5]], ("a", "b"))


def test_a_rounding_error_past_the_ends_counts_as_the_end():
    assert evaluate([[1.0]], [[np.nextafter(np.float32(1), np.float32(2))]], [1.0], ("a",)).calibration_error == 0
    assert decide([[-1e-9]], [0.0]).all()


def test_measuring_needs_numpy_alone():
    code = "import sys, limbeck.measure; print({'sklearn', 'scipy', 'torch', 'pandas'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
