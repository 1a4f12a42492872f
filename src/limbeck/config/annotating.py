"""Settings of annotating: where answers are kept, who is asked what, and when models learn from it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from limbeck.config.section import Section


class AnnotateSettings(Section):
    """Asking people for the labels that help most. What they say goes before what the labelled files say."""

    store: str = Field(
        "annotations.sqlite3",
        description="Where answers are kept: a file, or a URL of PostgreSQL; `limbeck serve --store` puts texts there, "
        "too. Labels in it are part of every run. Empty for none.",
    )
    strategy: str = Field(
        "",
        description='Which texts are asked about, with shares, e.g. "confidence:0.7, random:0.3". Empty: the default '
        "of the task. `limbeck annotate --strategies` lists them.",
    )
    batch: Annotated[int, Field(ge=1, le=10_000)] = Field(50, description="Texts that are chosen together.")
    retrain_every: Annotated[int, Field(ge=0)] = Field(
        25, description="New labels after which the model learns again, in the background. 0: never."
    )
    candidates: Annotated[int, Field(ge=0)] = Field(
        5_000, description="Texts of the pool, drawn at random, among which is chosen. 0: all, which takes its time."
    )
    queue_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.3, description="Share of each batch for texts that a server set aside, as long as there are some."
    )
    overlap: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="Share of the texts that two people are asked about, to see how far they agree."
    )
    show_guess: bool = Field(
        False, description="Show what the model thinks. It is faster, and people agree with it more than they should."
    )
    lease_minutes: Annotated[float, Field(gt=0)] = Field(
        15.0, description="A text that somebody has had on the screen for longer goes to whoever asks next."
    )
    rules: str = Field("rules.toml", description="Expressions that find texts of a category; see `limbeck rules`.")
