"""The model card of a bundle that finds entities."""

from __future__ import annotations

from collections.abc import Sequence

from limbeck.compress.card import figure, tried_table
from limbeck.compress.gate import Trial
from limbeck.runtime.manifest import Manifest


def tagger_card(manifest: Manifest, trials: Sequence[Trial]) -> str:
    """Say what the tagger finds, how good and how fast it is, what it was made from and how to use it."""
    figures, origin = manifest.figures, manifest.origin
    types = "\n".join(f"| {label.title} | `{label.name}` |" for label in manifest.labels)
    teacher = (
        f"The project's teacher has {figure(figures, 'teacher_judging_f1')} and {figure(figures, 'teacher_test_f1')}."
    )
    return f"""# {manifest.name}

A {manifest.model.kind} of {manifest.model.parameters:,} parameters ({manifest.model.recipe}) that finds entities of
{len(manifest.labels)} types in a text. Made by Limbeck {manifest.made_with}, {manifest.made_at}.

| type | name |
|---|---|
{types}

## How good

F1 by exact match (boundaries and type) on the half of dev that tuned nothing: {figure(figures, "judging_f1")};
on test: {figure(figures, "test_f1")}. {teacher}

{tried_table(trials, "F1 (judging)")}

An entity's confidence is calibrated on the other half of dev: of those with 0.9, about nine in ten are right.

## How it reads

Texts are cut into words by the rule of `limbeck.text.words`, and not changed otherwise: offsets are those of the text
as it was given. A text of any length is read whole, in parts where it is long.

## How to use it

```
limbeck predict THIS_FOLDER "a text"
```

```python
import limbeck

model = limbeck.load("THIS_FOLDER")
model.predict(["a text"])  # entities: start, end, type, text, confidence
```

## Where it comes from

{chr(10).join(f"- {name}: {value}" for name, value in origin.items())}
"""
