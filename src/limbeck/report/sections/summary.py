"""The two numbers that matter, and the chain with what went into and came out of each step."""

from __future__ import annotations

from collections.abc import Mapping

from limbeck.report.blocks import Marked, Section, megabytes, milliseconds
from limbeck.report.headline import headline
from limbeck.report.markup import Markup, element
from limbeck.report.run import Run
from limbeck.report.timings import usual_times

# Of each step's figures, those that say what went in and what came out.
_TOLD: Mapping[str, tuple[tuple[str, str], ...]] = {
    "data": (
        ("rows_read", "rows read"),
        ("train_rows", "to learn from"),
        ("dev_rows", "dev"),
        ("test_rows", "test"),
        ("train_sentences", "sentences to learn from"),
        ("dev_sentences", "dev"),
        ("test_sentences", "test"),
        ("categories", "categories"),
        ("types", "types"),
    ),
    "teach": (("tasks", "tasks taught"),),
    "calibrate": (("ece_before", "calibration error before"), ("ece_after", "after")),
    "pool": (
        ("rows_read", "rows read"),
        ("rows", "rows read"),
        ("texts", "different texts"),
        ("sentences", "sentences"),
        ("repeated", "repeated"),
        ("judges", "left out: in dev or test"),
        ("empty", "empty"),
    ),
    "pseudo": (("texts", "texts scored"), ("sentences", "sentences scored"), ("words", "words")),
    "select": (("texts", "texts"), ("kept", "kept"), ("filled", "unknown labels filled")),
}


def section(run: Run) -> Section:
    """Make the section."""
    told = headline(run)
    size = sum(file.stat().st_size for file in run.bundle.iterdir())
    chosen = run.chosen
    numbers = [
        (f"{chosen.f1.estimate:.3f}", f"{run.measure} of the bundle on {run.on}", _interval(run)),
        (told.kept, f"of the teacher's {run.measure}", _teacher(run)),
        (told.faster, "faster than the teacher", _times(run)),
        (megabytes(size), "on disk", f"{run.manifest.model.parameters:,} parameters"),
    ]
    cards = [
        element("div", element("b", value), element("span", what), element("small", more), class_="number")
        for value, what, more in numbers
        if value
    ]
    steps = element("ol", *(_step(run, at) for at in range(len(run.states))), class_="chain")
    lead = (
        f"A {run.manifest.model.kind} ({run.manifest.model.recipe}) for {len(run.labels)} "
        f"{'types of entity' if run.ner else 'categories'}."
    )
    if told.weak:
        lead += f" Weak: {told.weak}."
    return Section(
        "summary",
        "In short",
        lead,
        [Marked(element("div", *cards, class_="numbers")), Marked(element("h3", "The chain")), Marked(steps)],
    )


def _interval(run: Run) -> str:
    f1 = run.chosen.f1
    return f"{f1.level:.0%} interval {f1.low:.3f} to {f1.high:.3f}"


def _teacher(run: Run) -> str:
    return f"the teacher has {run.teacher.f1.estimate:.3f}" if run.teacher else ""


def _times(run: Run) -> str:
    times = usual_times(run.bench, run.manifest.model.kind)
    return f"{milliseconds(times[1])} instead of {milliseconds(times[0])} a text" if times else ""


def _step(run: Run, at: int) -> Markup:
    state = run.states[at]
    name = state.step.name
    told = [(words, state.figures[figure]) for figure, words in _TOLD.get(name, ()) if figure in (state.figures or {})]
    if name == "distill":
        told = [(f"{kind}: parameters", value) for kind, value in _by_kind(state.figures, "parameters")]
    if name == "compress":
        told = [(f"{kind}: bytes", value) for kind, value in _by_kind(state.figures, "bytes")]
    facts = [element("li", f"{words} ", element("b", _number(value))) for words, value in told]
    seconds = f"{state.seconds:.1f} s" if state.seconds is not None else state.state
    return element(
        "li",
        element("strong", name),
        element("span", seconds, class_="time"),
        element("p", state.step.summary),
        element("ul", *facts) if facts else "",
    )


def _by_kind(figures: Mapping[str, float], ending: str) -> list[tuple[str, float]]:
    return [(name.removesuffix(f".{ending}"), value) for name, value in figures.items() if name.endswith(f".{ending}")]


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3f}"
