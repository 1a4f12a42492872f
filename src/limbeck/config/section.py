"""What all tables of limbeck.toml have in common."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

T = TypeVar("T")

NonEmpty = Annotated[str, Field(min_length=1)]


def _without_repeats(kinds: list[T]) -> list[T]:
    return list(dict.fromkeys(kinds))


WithoutRepeats = AfterValidator(_without_repeats)


class Section(BaseModel):
    """A table of settings; a key it doesn't know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
