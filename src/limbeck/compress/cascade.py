"""Putting two bundles into one: from which confidence on the small model's answers stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import limbeck
from limbeck.compress.card import cell
from limbeck.compress.gate import Answering, answer_times
from limbeck.data.dataset import Dataset
from limbeck.data.prepare import Prepared
from limbeck.data.splits import JUDGING
from limbeck.errors import BadSetting
from limbeck.measure import decide, decide_classes
from limbeck.measure.counts import Bools, count, mean_over
from limbeck.runtime.bundle import CARD, GRAPH, LARGER, LARGER_TOKENISER, TOKENISER, Bundle, read_bundle, write_facts
from limbeck.runtime.cascade import Passing
from limbeck.runtime.load import classifier
from limbeck.runtime.manifest import Cascading, Manifest
from limbeck.runtime.predictor import Predictor
from limbeck.scorer import Floats

# Limits that are tried: shares of the texts that the larger model answers.
SHARES = np.linspace(0, 1, 101)
# So much of the larger model's F1 may be lost, on average, on the rows that the limit is fitted on.
LOST = 0.001
# Neighbours on each side whose F1 is taken together: a hundredth of some hundred rows is a few answers.
NEAR = 2
# Calls that are timed.
TIMED = 1000


@dataclass(frozen=True)
class Step:
    """A limit, the share of texts below it, and the F1 of what the two then answer."""

    limit: float
    passed_on: float
    f1: float


@dataclass(frozen=True)
class Joined:
    """A cascade in memory, the curve that its limit was chosen on, and the larger model's F1 there."""

    bundle: Bundle
    steps: tuple[Step, ...]
    chosen: Step
    larger_f1: float


def join(small: Bundle, larger: Bundle, rows: Dataset) -> Joined:
    """Fit the limit on labelled rows: the least that is passed on with which F1 stays that of the larger model.

    F1 is taken as a mean over neighbouring limits, and has to stay there for all higher ones: one lucky point is no
    reason.
    """
    check_pair(small.manifest, larger.manifest)
    fast, slow = Predictor(small, warn=False), Predictor(larger, warn=False)
    mine, theirs = fast.predict_proba(rows.texts), slow.predict_proba(rows.texts)
    passing = Passing(fast.thresholds, slow.thresholds, 0.0, small.manifest.task == "multiclass")
    truth = rows.labels[:, [rows.names.index(label.name) for label in larger.manifest.labels]]
    return joined(small, larger, _curve(passing, mine, theirs, truth, slow.thresholds))


def joined(small: Bundle, larger: Bundle, steps: Sequence[Step]) -> Joined:
    """Choose a limit from the curve, whose last step passes everything on, and make the bundle."""
    whole = steps[-1].f1
    smooth = [np.mean([one.f1 for one in steps[max(0, at - NEAR) : at + NEAR + 1]]) for at in range(len(steps))]
    enough = [at for at in range(len(steps)) if min(smooth[at:]) >= whole * (1 - LOST)]
    chosen = steps[enough[0] if enough else -1]
    return Joined(_bundle(small, larger, chosen), tuple(steps), chosen, whole)


def _curve(passing: Passing, mine: Floats, theirs: Floats, truth: Floats, limits: Floats) -> list[Step]:
    sure, moved = passing.sure(mine), passing.moved(mine)
    found = []
    for share in SHARES:
        limit = limit_below(sure, share)
        proba = np.where((sure < limit)[:, None], theirs, moved)
        decided = decide_classes(proba) if passing.one_class else decide(proba, limits)
        found.append(Step(limit, float((sure < limit).mean()), _macro_f1(truth, decided)))
    return found


def _macro_f1(truth: Floats, decided: Bools) -> float:
    counts = count(truth.astype(np.float64), decided)
    return float(mean_over(counts.f1(), counts.support > 0))


def limit_below(sure: Floats, share: float) -> float:
    """Give the confidence below which so many of the texts are."""
    if share >= 1:
        return 1.0 if float(sure.max(initial=0)) < 1 else float(np.nextafter(np.float32(1), np.float32(2)))
    return float(np.quantile(sure, share))


def compared(bundles: Mapping[str, Bundle], prepared: Prepared) -> list[dict[str, object]]:
    """Give F1 on dev's judging half and on test, and the times of an answer, of each bundle."""
    parts = {"judging": prepared.dev_half(JUDGING)} | ({"test": prepared.test} if prepared.test else {})
    rows = []
    for name, bundle in bundles.items():
        model = classifier(bundle, warn=False)
        told: dict[str, object] = {"model": name}
        for part, data in parts.items():
            proba = model.predict_proba(data.texts)[:, [model.labels.index(label) for label in data.names]]
            limits = dict(zip(model.labels, model.thresholds.tolist(), strict=True))
            one_class = bundle.manifest.task == "multiclass"
            decided = decide_classes(proba) if one_class else decide(proba, [limits[label] for label in data.names])
            told[f"macro-F1, {part}"] = _macro_f1(data.labels, decided)
        rows.append(told | times_of(model, parts["judging"].texts))
    return rows


def times_of(model: Answering, texts: Sequence[str]) -> dict[str, float]:
    """Give mean, median and 99th percentile of an answer in microseconds."""
    taken = answer_times(model, texts, TIMED)
    p50, p99 = np.percentile(taken, [50, 99]).tolist()
    return {"mean µs": float(taken.mean()), "p50 µs": p50, "p99 µs": p99}


def check_pair(small: Manifest, larger: Manifest) -> None:
    """Refuse what can't be joined."""
    if small.cascade is not None or larger.cascade is not None:
        raise BadSetting("A cascade is made of two bundles of one model each.", "Name two such bundles.")
    if small.task != larger.task or [one.name for one in small.labels] != [one.name for one in larger.labels]:
        raise BadSetting("The two bundles don't know the same labels.", "Make both in one project.")


def _bundle(small: Bundle, larger: Bundle, chosen: Step) -> Bundle:
    mine, theirs = small.manifest, larger.manifest
    told = Cascading(
        confidence=min(chosen.limit, 1.0),
        passed_on=chosen.passed_on,
        thresholds=[label.threshold for label in mine.labels],
        reading=theirs.reading,
        model=theirs.model,
        tagging=theirs.tagging,
    )
    manifest = replace(
        mine,
        name=f"{mine.name} then {theirs.name}",
        made_with=limbeck.__version__,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        labels=theirs.labels,
        cascade=told,
        figures={},
    )
    return replace(small, manifest=manifest, larger=larger)


def write_cascade(folder: Path, made: Bundle, figures: Mapping[str, float]) -> None:
    """Write a cascade as a bundle, with what was measured of it, and read it again as anyone will."""
    assert made.larger is not None
    folder.mkdir(parents=True)
    for name, content in (
        (GRAPH, made.graph),
        (TOKENISER, made.tokeniser),
        (LARGER, made.larger.graph),
        (LARGER_TOKENISER, made.larger.tokeniser),
    ):
        (folder / name).write_bytes(content)
    manifest = replace(made.manifest, figures=dict(figures))
    (folder / CARD).write_text(_card(manifest), encoding="utf-8")
    write_facts(folder, manifest)
    read_bundle(folder)


def _card(manifest: Manifest) -> str:
    told = manifest.cascade
    assert told is not None
    rows = "\n".join(f"| {name} | {value:.4g} |" for name, value in manifest.figures.items())
    return f"""# {cell(manifest.name)}

Two models in one bundle: a {manifest.model.kind} ({manifest.model.recipe}) answers what it is sure of, a
{told.model.kind} ({told.model.recipe}) the rest: below a confidence of {told.confidence:.4f}, which were
{told.passed_on:.1%} of the texts that the limit was fitted on.
Made by Limbeck {manifest.made_with}, {manifest.made_at}.

{"Entities" if manifest.task == "ner" else "Categories"}: {cell(", ".join(label.title for label in manifest.labels))}.

| figure | |
|---|---|
{rows}

A text that is passed on takes the time of both models: that is the worst case, whatever the mean is. If later texts are
harder, more of them take it.

```python
import limbeck

model = limbeck.load("this folder")
model.predict(["a text"])
```
"""
