"""The model card that stands in a bundle as README.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from limbeck.compress.gate import Trial
from limbeck.runtime.manifest import Manifest

TEXTS, SENTENCES = "texts", "sentences"
PROBABILITIES = 'model.predict_proba(["a text"])  # probabilities'


@dataclass(frozen=True)
class LearntFrom:
    """What a model was made from: labelled rows, rows that judge, texts without labels, and figures by label.

    `yes` counts the rows (or entities) of each label; `f1` is that of the network before it was compressed, on `part`.
    """

    what: str
    train: int
    dev: int
    test: int
    pool: int
    part: str = ""
    yes: Mapping[str, int] = field(default_factory=dict)
    f1: Mapping[str, float | None] = field(default_factory=dict)


def card(manifest: Manifest, trials: Sequence[Trial], learnt: LearntFrom) -> str:
    """Say what the model is for, how good and how fast it is, what it was made from, where it ends, how to use it."""
    figures, reading = manifest.figures, manifest.reading
    past = (
        f"read in pieces, {reading.max_windows} at most, that share {reading.overlap} tokens"
        if reading.long_texts == "windows"
        else "cut there, and the answer says so"
    )
    one = manifest.task == "multiclass"
    return f"""# {cell(manifest.name)}

A {manifest.model.kind} of {manifest.model.parameters:,} parameters ({manifest.model.recipe}) that gives a text
{"one of" if one else "any of"} {len(manifest.labels)} categories.
Made by Limbeck {manifest.made_with}, {manifest.made_at}.

## What it is for

To say, on a CPU and at once, which of these categories a text has. The texts should be like those that it learnt from.
{"Exactly one category is given." if one else "Several categories may be given, or none."}

{labels_table(manifest, learnt, "category")}

## What it was made from

{made_from(learnt)}

## How good

Macro-F1 on the half of dev that tuned nothing: {figure(figures, "judging_macro_f1")};
on test: {figure(figures, "test_macro_f1")}.
{_teacher(figures)}

{tried_table(trials, "macro-F1 (judging)")}

## How it reads

Texts are cleaned ({", ".join(reading.clean) or "not at all"}). Up to {reading.max_tokens} tokens are read at a time;
longer texts are {past}.

## Limits

{limits(learnt, "A threshold")}

{how_to_use("labels", PROBABILITIES)}
{where_from(manifest)}"""


def labels_table(manifest: Manifest, learnt: LearntFrom, thing: str) -> str:
    """List the labels: how often each was seen, and how well it is found."""
    rows = [
        f"| {cell(label.title)} | `{cell(label.name)}` | {label.threshold:.3f} | {learnt.yes.get(label.name, 0):,} "
        f"| {_f1(learnt.f1.get(label.name))} |"
        for label in manifest.labels
    ]
    where = f"F1, {learnt.part}" if learnt.part else "F1"
    return "\n".join([f"| {thing} | name | threshold | seen | {where} |", "|---|---|---:|---:|---:|", *rows])


def made_from(learnt: LearntFrom) -> str:
    """Say how much of what it learnt from."""
    pool = f", and the teacher's answers to {learnt.pool:,} {learnt.what} without labels" if learnt.pool else ""
    return (
        f"{learnt.train:,} labelled {learnt.what}{pool}. Judged by {learnt.dev:,} {learnt.what} of dev and "
        f"{learnt.test:,} of test, none of which it learnt from. 'Seen' counts what people marked; F1 is that before "
        "compressing."
    )


def limits(learnt: LearntFrom, threshold: str) -> str:
    """Say where the model ends."""
    weak = [name for name, count in learnt.yes.items() if count < 30]
    rare = f"\n- Few examples were seen of {', '.join(f'`{cell(name)}`' for name in weak[:12])}." if weak else ""
    return f"""- It knows nothing but its labels: a text about something else is answered all the same.
- Figures hold for texts like those of dev and test. Others (another channel, language or year) may be answered worse;
  `limbeck drift` says when the texts change.
- {threshold} fits the rates of dev; where a label is much rarer or more frequent, it should be chosen anew.
- Its answers repeat what annotators and the teacher believed, their mistakes included. People should decide whatever
  weighs on somebody.{rare}"""


def how_to_use(gives: str, more: str = "") -> str:
    """Show how the bundle is asked."""
    last = f"\n{more}" if more else ""
    return f"""## How to use it

```
limbeck predict THIS_FOLDER "a text"
limbeck serve THIS_FOLDER
```

```python
import limbeck

model = limbeck.load("THIS_FOLDER")
model.predict(["a text"])  # {gives}{last}
```
"""


def where_from(manifest: Manifest) -> str:
    """List the hashes of what it was made from."""
    rows = "\n".join(f"- {name}: {value}" for name, value in manifest.origin.items())
    return f"\n## Where it comes from\n\n{rows}\n"


def tried_table(trials: Sequence[Trial], quality: str) -> str:
    """Give the recipes that ran, and what each cost."""
    rows = [
        f"| {t.recipe}{' (this one)' if t.taken else ''} | {t.macro_f1:.4f} | {t.lost:+.2%} "
        f"[{t.lost_low:+.2%}, {t.lost_high:+.2%}] | {t.bytes / 1e6:.1f} | {t.p50_us:.0f} |"
        for t in trials
        if not t.why_not
    ]
    head = f"| recipe | {quality} | lost of float's | megabytes | microseconds a text |\n|---|---:|---|---:|---:|"
    return "\n".join([head, *rows])


def cell(text: str) -> str:
    """Write a name so that it stays in its cell of a table."""
    return " ".join(text.replace("|", "\\|").replace("`", "'").split())


def _f1(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _teacher(figures: dict[str, object]) -> str:
    if "teacher_judging_macro_f1" not in figures:
        return "No teacher was asked."
    return (
        f"The project's teacher has {figure(figures, 'teacher_judging_macro_f1')} and "
        f"{figure(figures, 'teacher_test_macro_f1')}."
    )


def figure(figures: dict[str, object], name: str) -> str:
    """Show a figure, if there is one."""
    value = figures.get(name)
    return f"{value:.3f}" if isinstance(value, float) else "not measured"
