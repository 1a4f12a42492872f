"""The pseudo labels: how sure the teacher is of the pool, what stays, and which labels go together."""

from __future__ import annotations

from typing import Any

from limbeck.report.blocks import Block, Picture, Section, Small
from limbeck.report.charts import Bar, Line, Look, bars, columns, grid, lines
from limbeck.report.run import Run
from limbeck.report.sections.quality import MOST

TEACHER = Look("teacher", "diamond")
NER_SHARE = "kept_at_"


def section(run: Run) -> Section | None:
    """Make the section."""
    told = run.read("select", "selection.json")
    if told:
        return _of_texts(run, told)
    state = next((s for s in run.states if s.step.name == "pseudo" and s.done), None)
    return _of_sentences(run, dict(state.figures)) if state is not None and run.ner else None


def _of_texts(run: Run, told: dict[str, Any]) -> Section:
    sizes, categories = told["sizes"], told["categories"]
    titles = dict(zip(run.labels, run.titles, strict=True))
    kept = Line("kept", [(one["confidence"], one["share"]) for one in told["kept_at"]], TEACHER, dots=True)
    some = sorted(categories, key=lambda one: -one["yes"])
    small = [columns(titles[one["category"]], one["histogram"], one["threshold"]) for one in some[:MOST]]
    counts = [
        Bar(titles[one["category"]], one["yes_kept"], f"{one['yes_kept']:,} of {one['yes']:,}", colour="teacher")
        for one in some[:MOST]
    ]
    blocks: list[Block] = [
        Picture(
            "What would stay",
            lines("What would stay", [kept], "least confidence, of all categories", "share of texts"),
            "Share of pool texts whose guesses are all at least so sure.",
        ),
        Picture("Guessed yes, and kept", bars("Guessed yes, and kept", counts), "Kept, of all that were guessed yes."),
        Small("Probabilities", small, "Texts by the teacher's probability (square roots of counts); line: threshold."),
    ]
    if 1 < len(run.labels) <= MOST:
        names = [titles[one["category"]] for one in categories]
        svg = grid("Labels that go together", names, told["correlation"])
        blocks.append(Picture("Labels that go together", svg, "Phi of kept guesses; point at a cell for its value."))
    lead = (
        f"{sizes['kept']:,} of {sizes['texts']:,} texts were kept ({sizes['kept'] / max(1, sizes['texts']):.0%}); "
        f"{sizes['filled']:,} unknown labels of {sizes['labelled_rows']:,} labelled rows were filled in."
    )
    return Section("pseudo", "Pseudo labels", lead + _thinned(run), blocks)


def _thinned(run: Run) -> str:
    """Say what near copies in the pool saved, if any."""
    pool = next((state.figures for state in run.states if state.step.name == "pool" and state.done), {})
    near = pool.get("near", 0)
    return f" {near:,.0f} near copies were left out before ({pool['saved']:.0%} of the texts)." if near else ""


def _of_sentences(run: Run, figures: dict[str, float]) -> Section | None:
    shares = sorted(
        (float(name.removeprefix(NER_SHARE)), value) for name, value in figures.items() if name.startswith(NER_SHARE)
    )
    if not shares:
        return None
    svg = lines("What would stay", [Line("kept", shares, TEACHER, dots=True)], "least confidence", "share of sentences")
    blocks = [Picture("What would stay", svg, "Share of pool sentences of whose tags the teacher is at least so sure.")]
    told = ", ".join(f"{name.replace('_', ' ')} {value:,.0f}" for name, value in figures.items() if value > 1)
    return Section("pseudo", "Pseudo labels", f"What the teacher tagged: {told}.{_thinned(run)}", blocks)
