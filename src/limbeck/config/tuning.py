"""Settings of the search for better settings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from limbeck.config.section import Section


class TuneSettings(Section):
    """How `limbeck tune` searches; nothing else heeds these."""

    trials: Annotated[int, Field(ge=1)] = Field(
        30, description="Trials of a study in all, those of other machines and earlier calls with them."
    )
    seconds: Annotated[float, Field(ge=0)] = Field(
        1800.0, description="Seconds of a call, after which no trial begins and one that trains is cut. 0: no limit."
    )
    storage: str = Field(
        "",
        description="Where studies are kept: a URL that SQLAlchemy knows, e.g. postgresql+psycopg://USER@HOST/NAME, "
        "which several machines can share. Empty: a SQLite file in the working folder.",
    )
    study: str = Field("", description="The study's name. Empty: that of the project's folder, and the target.")
    prune: bool = Field(
        True, description="End a trial whose training is worse than half of the others' were at the same point."
    )
    keep: list[str] = Field(
        [], description='Settings that are not searched but stay as they are, e.g. ["students.size"].'
    )
