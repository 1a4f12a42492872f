"""The model card that stands in a bundle as README.md."""

from __future__ import annotations

from collections.abc import Sequence

from limbeck.compress.gate import Trial
from limbeck.runtime.manifest import Manifest


def card(manifest: Manifest, trials: Sequence[Trial]) -> str:
    """Say what the model does, how good and how fast it is, what it was made from and how to use it."""
    figures, origin = manifest.figures, manifest.origin
    labels = "\n".join(f"| {label.title} | `{label.name}` | {label.threshold:.3f} |" for label in manifest.labels)
    reading = manifest.reading
    past = (
        f"read in pieces, {reading.max_windows} at most, that share {reading.overlap} tokens"
        if reading.long_texts == "windows"
        else "cut there, and the answer says so"
    )
    return f"""# {manifest.name}

A {manifest.model.kind} of {manifest.model.parameters:,} parameters ({manifest.model.recipe}) that gives a text
{"one of" if manifest.task == "multiclass" else "any of"} {len(manifest.labels)} categories.
Made by Limbeck {manifest.made_with}, {manifest.made_at}.

| category | name | threshold |
|---|---|---:|
{labels}

## How good

Macro-F1 on the half of dev that tuned nothing: {figure(figures, "judging_macro_f1")};
on test: {figure(figures, "test_macro_f1")}.
{_teacher(figures)}

{tried_table(trials, "macro-F1 (judging)")}

## How it reads

Texts are cleaned ({", ".join(reading.clean) or "not at all"}). Up to {reading.max_tokens} tokens are read at a time;
longer texts are {past}.

## How to use it

```
limbeck predict THIS_FOLDER "a text"
```

```python
import limbeck

model = limbeck.load("THIS_FOLDER")
model.predict(["a text"])        # labels
model.predict_proba(["a text"])  # probabilities
```

## Where it comes from

{chr(10).join(f"- {name}: {value}" for name, value in origin.items())}
"""


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
