"""Drift: no more false alarms than promised, shifts that matter are found, and any window can be compared."""

import json
import math
import subprocess
import sys
from dataclasses import asdict
from statistics import NormalDist

import numpy as np
import pytest
from bundles import manifest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbeck.runtime.manifest import Label, Reference, Tagging
from limbeck.serve import tails
from limbeck.serve.drift import compare
from limbeck.serve.window import DIRECTIONS, Snapshot, Window, length_edges, merged

NAMES = ("rare", "late", "hot", "wifi", "often")
RATES = np.array([0.002, 0.02, 0.1, 0.3, 0.6])
WIDTH = 12
MIXED = np.random.default_rng(5).normal(size=(WIDTH, WIDTH)) / math.sqrt(WIDTH)


def texts_like(rng, texts, rates=RATES, longer=1.0, unknown=0.01, moved=0.0, unsure=1.0):
    """Texts as a bundle answers them: correlated labels, skewed lengths with ties, unknown words in bursts."""
    kind = rng.normal(size=(texts, 1))
    lean = 0.6 * kind + 0.8 * rng.normal(size=(texts, len(rates)))
    lengths = np.minimum(2 + longer * np.exp(rng.normal(2.3, 0.7, texts)), 128).astype(np.int64)
    strange = rng.random(texts) < 0.003
    return {
        "given": lean > [NormalDist().inv_cdf(1 - rate) for rate in rates],
        "confidence": 0.5 + 0.5 * rng.beta(6, 1.5 * unsure, texts),
        "lengths": lengths,
        "unknown": rng.binomial(lengths, np.where(strange, 0.7, unknown * rng.gamma(1, 1, texts)).clip(0, 1)),
        "embeddings": np.maximum(rng.normal(size=(texts, WIDTH)) @ MIXED + 0.5 * kind, -0.3) + moved,
    }


def reference_from(told):
    """The same as limbeck.compress.reference."""
    counts, _ = np.histogram(told["confidence"], bins=10, range=(0.5, 1))
    return Reference(
        texts=len(told["lengths"]),
        label_rates=dict(zip(NAMES, told["given"].mean(axis=0).tolist(), strict=True)),
        confidence=(counts / counts.sum()).tolist(),
        lengths=np.percentile(told["lengths"], np.arange(0, 101, 10)).tolist(),
        unknown_rate=float(told["unknown"].sum() / told["lengths"].sum()),
        embedding=np.round(told["embeddings"].mean(axis=0), 5).tolist(),
    )


def about(reference, **changed):
    labels = [Label(name=name, title=name, threshold=0.5) for name in NAMES]
    return manifest(labels=labels, reference=reference, **changed)


def seen_by(reference, told, **changed):
    window = Window(about(reference, **changed))
    window.add(**told)
    return merged([window.snapshot()])


REFERENCE = reference_from(texts_like(np.random.default_rng(0), 3000))


def after(texts=1000, seed=1, **changed):
    return compare(REFERENCE, seen_by(REFERENCE, texts_like(np.random.default_rng(seed), texts, **changed)))


def moved(report):
    return {one.what for one in report.findings if one.moved}


def test_false_alarms_are_no_more_often_than_promised():
    rng, windows = np.random.default_rng(2), 450
    smallest = []
    for number in range(windows):
        texts, others = ((500, 800), (800, 400), (150, 800))[number % 3]
        reference = reference_from(texts_like(rng, others))
        report = compare(reference, seen_by(reference, texts_like(rng, texts)))
        smallest.append(min(one.adjusted_p for one in report.findings))
    for rate in (0.01, 0.05, 0.2):
        alarms = np.mean(np.array(smallest) <= rate)
        assert alarms <= rate + 3 * math.sqrt(rate * (1 - rate) / windows), (rate, alarms)
    assert np.mean(np.array(smallest) <= 0.5) > 0.1, "nor does it sleep"


def test_a_category_that_is_given_twice_as_often_is_found():
    report = after(rates=np.array([0.002, 0.02, 0.2, 0.3, 0.6]))
    assert report.moved and moved(report) == {"hot"}
    [hot] = [one for one in report.findings if one.moved]
    assert hot.sentence == f"hot is given to {100 * hot.live:.0f} % of texts, was {100 * hot.reference:.2g} %."
    assert set(report.suggested_labels) == {"hot"} and 40 <= report.suggested_labels["hot"] <= 500
    assert f"Label {report.suggested_labels['hot']} of the new texts" in report.sentence


def test_a_rare_category_that_is_ten_times_as_often_is_found():
    assert "rare" in moved(after(rates=np.array([0.02, 0.02, 0.1, 0.3, 0.6])))


def test_longer_texts_are_found():
    report = after(longer=2)
    [lengths] = [one for one in report.findings if one.kind == "lengths"]
    assert lengths.moved and lengths.psi > 0.25 and lengths.live > lengths.reference + 0.3
    assert "tokens" in lengths.sentence and report.suggested_labels == {}


def test_shorter_texts_are_found():
    assert moved(after(longer=0.7)) == {"lengths"}


def test_more_unknown_words_are_found_and_fewer_do_no_harm():
    assert moved(after(unknown=0.03)) == {"unknown words"}
    assert moved(after(unknown=0.0)) == set()


def test_moved_embeddings_are_found():
    spread = texts_like(np.random.default_rng(0), 1000)["embeddings"].std()
    report = after(moved=0.5 * spread)
    assert moved(report) == {"mean embedding"}
    [embedding] = [one for one in report.findings if one.moved]
    assert embedding.live > 0.001 and "cosine distance" in embedding.sentence


def test_a_sample_of_embeddings_is_enough():
    told = texts_like(np.random.default_rng(3), 2000, moved=0.5)
    told["embeddings"] = told["embeddings"][::16]
    assert moved(compare(REFERENCE, seen_by(REFERENCE, told))) == {"mean embedding"}


def test_less_confidence_is_found():
    report = after(unsure=1.5)
    [sure] = [one for one in report.findings if one.moved]
    assert sure.kind == "confidence" and sure.psi > 0.1 and sure.live < sure.reference


def test_the_same_texts_are_the_same():
    told = texts_like(np.random.default_rng(4), 3000)
    reference = reference_from(told)
    report = compare(reference, seen_by(reference, told))
    assert not report.moved and all(one.p > 0.4 for one in report.findings)
    assert all(one.psi is None or one.psi < 1e-12 for one in report.findings)
    assert report.sentence.startswith("Nothing moved: 3,000 texts")


def test_few_texts_say_nothing():
    report = after(texts=99, longer=9)
    assert not report.moved and report.findings == () and "99 texts are too few" in report.sentence
    seen = seen_by(REFERENCE, texts_like(np.random.default_rng(1), 99, longer=9))
    assert compare(REFERENCE, seen, least=50).moved


def test_without_a_reference_it_says_so():
    report = compare(None, Snapshot(texts=5000))
    assert not report.moved and "no reference" in report.sentence and report.texts == 5000


def entities(rng, texts, rate=0.3, sure=6.0):
    """Several entities a text, as sure as each other."""
    found = rng.poisson(rate * 2, texts)
    own = rng.beta(sure, 1.5, texts)
    confidence = 0.5 + 0.5 * np.repeat(own, found)
    return {
        "given": np.column_stack([(found > 0) & (rng.random(texts) < share) for share in (0.3, 0.5, 0.9, 0.1, 0.2)]),
        "confidence": confidence,
        "lengths": rng.integers(3, 30, texts),
        "unknown": np.zeros(texts, dtype=np.int64),
        "embeddings": np.zeros((0, WIDTH)),
    }


def test_entities_of_one_text_are_not_taken_for_independent():
    rng, alarms = np.random.default_rng(8), []
    tagging = {"task": "ner", "tagging": Tagging(reads="vectors")}
    for _ in range(200):
        told = entities(rng, 1000)
        reference = Reference(**asdict(reference_from({**told, "embeddings": np.zeros((1, 0))})))
        report = compare(reference, seen_by(reference, entities(rng, 1000), **tagging))
        alarms.append(report.moved)
    assert np.mean(alarms) <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 200)
    found = compare(reference, seen_by(reference, entities(rng, 1000, sure=3.0), **tagging))
    assert moved(found) == {"confidence"}


counts = st.integers(0, 2**53)
reals = st.floats(-1e30, 1e30)
CELLS = 2 * len(length_edges(REFERENCE)) + 1


def lists(of, length):
    return st.lists(of, min_size=length, max_size=length) | st.lists(of, max_size=3)


snapshots = st.builds(
    Snapshot,
    texts=counts | st.integers(0, 300),
    given=st.dictionaries(st.sampled_from([*NAMES, "other"]), counts | st.integers(0, 300)),
    with_entities=st.none() | counts,
    confidence=lists(counts | st.integers(0, 20), 10),
    lengths=lists(counts | st.integers(0, 20), CELLS),
    unknown=counts | st.integers(0, 20),
    tokens=counts | st.integers(0, 2000),
    squared=lists(counts, 3),
    embeddings=counts | st.integers(0, 100),
    embedding=lists(reals, WIDTH),
    along=lists(reals, DIRECTIONS),
    along_squared=lists(reals, DIRECTIONS),
)
shares = st.floats(0, 1)
references = st.builds(
    Reference,
    texts=st.integers(0, 10_000),
    label_rates=st.dictionaries(st.sampled_from(NAMES), shares),
    confidence=lists(shares, 10),
    lengths=st.lists(st.floats(0, 1e6), max_size=11).map(sorted),
    unknown_rate=shares,
    embedding=lists(st.floats(-100, 100), WIDTH),
)


@settings(max_examples=150, deadline=None)
@given(reference=st.just(REFERENCE) | references, seen=snapshots)
def test_any_window_can_be_compared(reference, seen):
    report = compare(reference, seen)
    assert "nan" not in json.dumps(asdict(report), allow_nan=False).lower()
    for one in report.findings:
        assert 0 <= one.p <= one.adjusted_p <= 1
        assert one.moved == (one.adjusted_p <= report.alarm_rate)
    assert all(20 <= count <= 500 for count in report.suggested_labels.values())
    assert report.moved == any(one.moved for one in report.findings)


# What scipy 1.17 gives.
@pytest.mark.parametrize(
    ("found", "right"),
    [
        (tails.normal_tail(0), 1),
        (tails.normal_tail(1.96), 0.04999579029644087),
        (tails.normal_tail(-3), 0.0026997960632601866),
        (tails.normal_tail(30), 9.813427854295816e-198),
        (tails.chi_square_tail(0.5, 1), 0.47950012218695337),
        (tails.chi_square_tail(10, 2), 0.006737946999085468),
        (tails.chi_square_tail(9, 9), 0.43727418891386693),
        (tails.chi_square_tail(30, 9), 0.00043872177097947936),
        (tails.chi_square_tail(60, 8), 4.661032000779303e-10),
        (tails.chi_square_tail(2, 20), 0.9999998885745217),
        (tails.chi_square_tail(7, 0), 1),
        (tails.kolmogorov_limit(0.01), 1),
        (tails.kolmogorov_limit(0.3), 0.9999906941986655),
        (tails.kolmogorov_limit(0.8), 0.5441424115741981),
        (tails.kolmogorov_limit(0.99), 0.2808738392255489),
        (tails.kolmogorov_limit(1.01), 0.25943416909359746),
        (tails.kolmogorov_limit(1.36), 0.049485876755377876),
        (tails.kolmogorov_limit(3), 3.045995948942526e-08),
        (tails.rate_tail(3, 10, 1, 20), 0.09523809523809525),
        (tails.rate_tail(0, 1000, 12, 5000), 0.23688037320373412),
        (tails.rate_tail(31, 1000, 60, 5000), 4.612381650303807e-05),
        (tails.rate_tail(200, 1000, 300, 3000), 2.267866109519179e-15),
        (tails.rate_tail(5, 100, 5000, 5005), 7.727107236249036e-189),
        (tails.rate_tail(31, 1000, 60, 5000, only_more=True), 3.585648583746694e-05),
        (tails.rate_tail(0, 1000, 12, 5000, only_more=True), 1),
        (tails.rate_tail(0, 10, 0, 20), 1),
    ],
)
def test_tails_are_right(found, right):
    assert found == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize(
    ("t", "degrees", "right"),
    [(1, 30, 0.3253086154260302), (4, 99, 0.00012225152757111313), (5, 999, 6.768361895801103e-07)],
)
def test_students_tail_is_near(t, degrees, right):
    assert tails.student_tail(t, degrees) == pytest.approx(right, rel=0.01)


def test_large_rates_are_compared_as_small_ones_are(monkeypatch):
    counts = (12_300, 40_000, 30_300, 100_000)
    approximate = [tails.rate_tail(*counts, only_more=more) for more in (False, True)]
    monkeypatch.setattr(tails, "EXACT", 10**6)
    assert [tails.rate_tail(*counts, only_more=more) for more in (False, True)] == pytest.approx(approximate, rel=0.03)


def test_nothing_heavy_is_loaded():
    code = "import sys, limbeck.serve.drift; print({'scipy', 'torch', 'sklearn', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
