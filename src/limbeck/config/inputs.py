"""Settings of what comes in: your files, how texts are cleaned, how rows are divided."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from limbeck.config.section import NonEmpty, Section
from limbeck.errors import BadSetting
from limbeck.text import DEFAULT_STEPS, Cleaner

Task = Literal["multilabel", "multiclass", "ner"]


def _none_or_alike(limit: float) -> float:
    if limit and not 0.5 <= limit <= 1:
        raise ValueError("It is 0, or between 0.5 and 1.")
    return limit


def _without_cycles(parents: dict[str, str]) -> dict[str, str]:
    for name in parents:
        above = [name]
        while above[-1] in parents:
            above.append(parents[above[-1]])
            if above[-1] in above[:-1]:
                raise ValueError(f"It goes round in a circle: {' → '.join(above)}.")
    return parents


class DataSettings(Section):
    """Your files. Paths are relative to this file."""

    labels: list[NonEmpty] = Field(
        ["labels"],
        min_length=1,
        description="Labelled files or folders, in any mix of three shapes: one file a category (text,label; the "
        "file's name is the category), one wide file (a column a category: 1, 0 or blank for unknown), complete "
        "lists (text, labels). For NER: CoNLL files.",
    )
    pool: list[str] = Field(
        ["pool.jsonl"], description="Unlabelled texts. Read as a stream, so any size will do. May be empty."
    )
    dev: NonEmpty = Field(
        "dev.jsonl", description="Labelled texts with natural rates, for tuning (one half) and judging (the other)."
    )
    test: str = Field("test.jsonl", description="Labelled texts for the published figures only. Empty for none.")
    categories: list[str] = Field(
        [], description="The categories to learn, in this order. Empty: all that the files name."
    )
    titles: dict[str, str] = Field(
        {}, description='How to show a category to people, e.g. { wlan = "WLAN / Internet" }.'
    )
    parents: Annotated[dict[str, NonEmpty], AfterValidator(_without_cycles)] = Field(
        {},
        description='What a category belongs to, e.g. { wlan = "comfort", seat = "comfort" }; a parent may have one, '
        "too. Figures and tables are then told by parent as well, and pseudo.parent_rows bounds its texts.",
    )
    text_column: str = Field("text", description="The column that holds the text.")
    label_column: str = Field(
        "label", description="The column of a one-category file: 1, 0 or blank. For multiclass: the class."
    )
    labels_column: str = Field(
        "labels", description="The column of complete lists. In csv the labels are joined by '|'."
    )
    source_column: str = Field(
        "source", description="An optional column that says where a row came from (channel, company)."
    )
    weak_column: str = Field(
        "weak",
        description="An optional column that says how much a row's labels count, above 0 and up to 1, e.g. labels by "
        "rules. Labels that people gave go before them, and nothing is judged by them. Not for dev and test.",
    )
    ignore_columns: list[str] = Field(
        [], description="Columns of a wide file that are not categories, e.g. ids and dates."
    )
    near_duplicates: Annotated[float, AfterValidator(_none_or_alike)] = Field(
        0.0,
        description="Texts of the pool that are at least so alike count as one, and the first stays: the share of "
        "their shingles of five characters that both have, 0.8 for texts that differ in a word or in typing. The rest "
        "is neither scored nor labelled. 0: all stay. `limbeck inspect` tells how many there are.",
    )
    unknown_labels: Literal["error", "ignore"] = Field(
        "error", description="What to do with a label in a complete list that is not among the categories."
    )
    contradictions: Literal["unknown", "majority", "error"] = Field(
        "unknown",
        description="When a text is labelled both yes and no for a category: take it as unknown, by majority, or stop.",
    )
    max_line_bytes: Annotated[int, Field(ge=1_000)] = Field(
        1_000_000, description="A longer line is an error: it is nearly always a missing quote, not a text."
    )


class TextSettings(Section):
    """How texts are cleaned. The list travels with the model, so serving cleans exactly as training did."""

    clean: list[str] = Field(
        list(DEFAULT_STEPS),
        description="The steps; they run in a fixed order. Also known: lower, scrub-email, scrub-phone, scrub-iban, "
        "scrub-ticket.",
    )

    @field_validator("clean")
    @classmethod
    def _known_steps(cls, steps: list[str]) -> list[str]:
        try:
            Cleaner(tuple(steps))
        except BadSetting as error:
            raise ValueError(f"{error.message} {error.fix}") from None
        return steps


class SplitSettings(Section):
    """How rows are divided. Texts that are the same after normalising never fall on two sides."""

    folds: Annotated[int, Field(ge=2, le=50)] = Field(
        5, description="Folds of the labelled rows, stratified over all categories."
    )
