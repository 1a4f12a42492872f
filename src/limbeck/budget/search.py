"""The search: which students can fit, training those, and the best of what they become."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.budget.limits import FIT, Budget, shown_time
from limbeck.compress.gate import answer_times
from limbeck.compress.recipes import need_backends
from limbeck.config import load_project
from limbeck.errors import BadSetting, RunError, nearest
from limbeck.pipeline import Pipeline
from limbeck.runtime.load import load
from limbeck.steps.compressing import TABLE
from limbeck.store import write_atomically

SIZES = ("small", "medium", "large")
KINDS = ("bag", "cnn", "bilstm")
TAGGERS = ("cnn", "bilstm", "transformer")
# Beside the recipes of the settings: what makes bundles small.
SMALLER = (
    "tables-4bit",
    "tables-products",
    "tables-long-products",
    "tables-products+int8-channels",
    "tables-long-products+int8-channels",
)
# Calls of the measurement that follows the search.
CHECKED = 500

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Candidate:
    """A student, its size and a recipe: F1 on dev's judging half, median microseconds, bytes of the bundle."""

    kind: str
    size: str
    recipe: str
    f1: float
    p50_us: float
    bytes: int

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.kind}, {self.size}, {self.recipe}"

    def settings(self) -> list[str]:
        """Give the settings that make it."""
        return [*_settings(self.kind, self.size), f'compress.recipes=["{self.recipe}"]', f"compress.take={self.recipe}"]


@dataclass(frozen=True)
class Found:
    """What a search came to; `checked_us` and `checked_bytes` were measured afterwards, on the bundle itself."""

    budget: Budget
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    skipped: tuple[str, ...]
    bundle: Path
    checked_us: float
    checked_p99_us: float
    checked_bytes: int

    def frontier(self) -> list[Candidate]:
        """Give the candidates that none other beats in all of F1, time and size."""
        return [one for one in self.candidates if not any(_beats(other, one) for other in self.candidates)]

    def as_dict(self) -> dict[str, Any]:
        """Give plain values."""
        return asdict(self) | {"bundle": str(self.bundle), "asked": str(self.budget)}


def search(
    root: Path,
    budget: Budget,
    overrides: Sequence[str] = (),
    kinds: Sequence[str] = (),
    sizes: Sequence[str] = SIZES,
    tell: Tell = lambda sentence: None,
) -> Found:
    """Find the model with the best F1 inside the budget; with a least F1, the fastest that has it.

    Students that can't fit, whatever they learn, are not trained. Raises if nothing fits, with the nearest.
    """
    plain = Pipeline(load_project(root, [*overrides, "baselines.kinds=[]"]))
    ner = plain.project.config.task == "ner"
    kinds = kinds or (("cnn", "bilstm") if ner else KINDS)
    _check(plain, kinds, TAGGERS if ner else (*KINDS, "transformer"))
    wanted, skipped = [(kind, size) for size in sizes for kind in kinds], list[str]()
    if not ner:
        wanted, skipped = _that_can_fit(plain, wanted, budget, tell)
    candidates: list[Candidate] = []
    for kind, size in wanted:
        candidates += _candidates(root, overrides, kind, size, tell)
    inside = [one for one in candidates if budget.excess(one.p50_us, one.bytes, one.f1) <= 0]
    for chosen in sorted(inside, key=lambda one: _rank(one, budget)):
        bundle = _made(root, overrides, chosen)
        p50, p99 = measured(bundle, _texts(plain))
        size_of = _bytes(bundle)
        if replace(budget, f1=None).excess(p50, size_of, 1) <= 0:
            found = Found(budget, chosen, tuple(candidates), tuple(skipped), bundle, p50, p99, size_of)
            write_atomically(plain.project.workdir / FIT, json.dumps(found.as_dict(), indent=1))
            return found
        tell(f"{chosen.name} took {shown_time(p50)} when it was measured again; the next one is tried.")
    raise RunError(f"No model has {budget}.", _nearest(candidates, skipped, budget))


def _check(plain: Pipeline, kinds: Sequence[str], known: Sequence[str]) -> None:
    need_backends(plain.project.config.compress.tried())
    for kind in kinds:
        if kind not in known:
            raise BadSetting(f"There is no student '{kind}' to look at.", nearest(kind, known))
    if "compress" not in [step.name for step in plain.steps]:
        raise BadSetting(
            "There is nothing to search: students need a teacher and a pool.", "Set teach.kind and data.pool."
        )


def measured(bundle: Path, texts: Sequence[str]) -> tuple[float, float]:
    """Load a bundle as anyone would, and give median and 99th percentile of an answer, in microseconds."""
    p50, p99 = np.percentile(answer_times(load(bundle), texts, CHECKED), [50, 99]).tolist()
    return p50, p99


def _that_can_fit(
    plain: Pipeline, wanted: Sequence[tuple[str, str]], budget: Budget, tell: Tell
) -> tuple[list[tuple[str, str]], list[str]]:
    from limbeck.budget.survey import prospect
    from limbeck.data.prepare import Prepared
    from limbeck.data.splits import JUDGING

    plain.run(until="data")
    prepared = Prepared.load(_folder(plain, "data"))
    kept, skipped = [], []
    for kind, size in wanted:
        seen = prospect(kind, size, plain.project, prepared.dev_half(JUDGING), prepared.train.texts)
        if seen.can_fit(budget):
            kept.append((kind, size))
        else:
            least = f"{shown_time(seen.p50_us)} and {seen.bytes / 1e6:.2f} MB at the least"
            skipped.append(f"{kind}, {size}: {least}")
            tell(f"{kind}, {size} is not trained: it takes {least}.")
    return kept, skipped


def _candidates(root: Path, overrides: Sequence[str], kind: str, size: str, tell: Tell) -> list[Candidate]:
    plain = load_project(root, overrides).config.compress.recipes
    recipes = json.dumps([*plain, *(recipe for recipe in SMALLER if recipe not in plain)])
    settings = [*overrides, *_settings(kind, size), f"compress.recipes={recipes}"]
    pipeline = Pipeline(load_project(root, settings))
    tell(f"{kind}, {size}: learns, and every recipe is tried …")
    pipeline.run(until="compress")
    folder = _folder(pipeline, "compress")
    [(model, told)] = json.loads((folder / TABLE).read_text(encoding="utf-8")).items()
    taken = next(trial for trial in told["trials"] if trial["taken"])
    others = _bytes(folder / model) - taken["bytes"]
    return [
        Candidate(kind, size, trial["recipe"], trial["macro_f1"], trial["p50_us"], trial["bytes"] + others)
        for trial in told["trials"]
        if not trial["why_not"]
    ]


def _made(root: Path, overrides: Sequence[str], chosen: Candidate) -> Path:
    pipeline = Pipeline(load_project(root, [*overrides, *chosen.settings()]))
    pipeline.run(until="compress")
    return _folder(pipeline, "compress") / chosen.kind


def _settings(kind: str, size: str) -> list[str]:
    return [f'students.kinds=["{kind}"]', f"students.size={size}", "baselines.kinds=[]"]


def _beats(one: Candidate, other: Candidate) -> bool:
    mine, theirs = (-one.f1, one.p50_us, one.bytes), (-other.f1, other.p50_us, other.bytes)
    return mine != theirs and all(a <= b for a, b in zip(mine, theirs, strict=True))


def _rank(one: Candidate, budget: Budget) -> tuple[float, ...]:
    """Give what the search sorts by: the best F1, or with a least F1 the fastest."""
    return (-one.f1, one.p50_us) if budget.f1 is None else (one.p50_us, one.bytes, -one.f1)


def _nearest(candidates: Sequence[Candidate], skipped: Sequence[str], budget: Budget) -> str:
    if not candidates:
        return f"None that was looked at can: {'; '.join(skipped)}. Allow more."
    near = min(candidates, key=lambda one: budget.excess(one.p50_us, one.bytes, one.f1))
    told = f"{shown_time(near.p50_us)}, {near.bytes / 1e6:.2f} MB and F1 {near.f1:.3f} on dev's judging half"
    return f"The nearest is {near.name}: {told}. Allow that much, or train longer."


def _folder(pipeline: Pipeline, step: str) -> Path:
    folder = pipeline.folder(step)
    if folder is None:
        raise RunError(f"The step {step} is not done.", "Start the search again; finished steps are kept.")
    return folder


def _bytes(bundle: Path) -> int:
    return sum(file.stat().st_size for file in bundle.iterdir())


def _texts(pipeline: Pipeline) -> list[str]:
    """Give texts of dev, to time answers with."""
    folder = _folder(pipeline, "data")
    if pipeline.project.config.task == "ner":
        from limbeck.data.tagged import PreparedSentences

        return [sentence.text for sentence in PreparedSentences.load(folder).dev]
    from limbeck.data.prepare import Prepared

    return list(Prepared.load(folder).dev.texts)
