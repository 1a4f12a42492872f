"""The model card of a bundle that finds entities."""

from __future__ import annotations

from collections.abc import Sequence

from limbeck.compress.card import (
    LearntFrom,
    cell,
    figure,
    how_to_use,
    labels_table,
    limits,
    made_from,
    tried_table,
    where_from,
)
from limbeck.compress.gate import Trial
from limbeck.runtime.manifest import Manifest


def tagger_card(manifest: Manifest, trials: Sequence[Trial], learnt: LearntFrom) -> str:
    """Say what the tagger is for, how good and how fast it is, what it was made from and how to use it."""
    figures = manifest.figures
    teacher = (
        f"The project's teacher has {figure(figures, 'teacher_judging_f1')} and {figure(figures, 'teacher_test_f1')}."
    )
    return f"""# {cell(manifest.name)}

A {manifest.model.kind} of {manifest.model.parameters:,} parameters ({manifest.model.recipe}) that finds entities of
{len(manifest.labels)} types in a text. Made by Limbeck {manifest.made_with}, {manifest.made_at}.

## What it is for

To find, on a CPU and at once, the entities of these types in a text. The texts should be like those that it learnt
from.

{labels_table(manifest, learnt, "type")}

## What it was made from

{made_from(learnt)}

## How good

F1 by exact match (boundaries and type) on the half of dev that tuned nothing: {figure(figures, "judging_f1")};
on test: {figure(figures, "test_f1")}. {teacher}

{tried_table(trials, "F1 (judging)")}

An entity's confidence is calibrated on the other half of dev: of those with 0.9, about nine in ten are right.

## How it reads

Texts are cut into words by the rule of `limbeck.text.words`, and not changed otherwise: offsets are those of the text
as it was given. A text of any length is read whole, in parts where it is long.

## Limits

{limits(learnt, "An entity's confidence")}

{how_to_use("entities: start, end, type, text, confidence")}
{where_from(manifest)}"""
