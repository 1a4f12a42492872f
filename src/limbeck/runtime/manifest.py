"""What stands in a bundle's `bundle.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT = 1

Share = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Part(BaseModel):
    """A group of facts; one that this version doesn't know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Label(Part):
    """A category: its name, the title that people read, and the probability from which on it is given.

    For entities: a type, and the confidence from which on one of it is given.
    """

    name: Annotated[str, Field(min_length=1)]
    title: str
    threshold: Share


class Reading(Part):
    """How a text becomes token ids: cleaning, special tokens included in `max_tokens`, and what is done past them.

    `truncate` reads the first tokens. `windows` reads all of a text in pieces that share `overlap` tokens, up to
    `max_windows` of them; a label's probability is the highest (`max`) or the mean over the pieces.
    """

    clean: list[str]
    max_tokens: Annotated[int, Field(ge=3)]
    long_texts: Literal["truncate", "windows"] = "truncate"
    overlap: Annotated[int, Field(ge=0)] = 0
    max_windows: Annotated[int, Field(ge=1)] = 64
    combine: Literal["max", "mean"] = "max"
    pad_id: Annotated[int, Field(ge=0)]
    unknown_id: int | None = None


class Model(Part):
    """What the network is: its kind, the recipe that made it small, and how many numbers it holds."""

    kind: str
    recipe: str
    parameters: Annotated[int, Field(ge=0)]
    embedding: Annotated[int, Field(ge=0)] = Field(0, description="Width of the output `embedding`; 0: none.")


class Tagging(Part):
    """How a tagger's words become inputs, and how its scores become entities.

    `between`, `first` and `last` are what moves from tag to tag score; empty ones score 0. An entity's confidence is
    the logistic function of `slope` times the log-odds that its tags have together, plus `offset`.
    """

    reads: Literal["vectors", "encoder"]
    marks: Literal["characters", "affixes"] = "affixes"
    alphabet: str = ""
    between: list[list[float]] = []
    first: list[float] = []
    last: list[float] = []
    slope: float = 1.0
    offset: float = 0.0


class Reference(Part):
    """What the world was like when the model was made: later texts are compared with it."""

    texts: Annotated[int, Field(ge=0)]
    label_rates: dict[str, Share]
    confidence: list[Share] = Field(description="Shares of texts by confidence, in equal bins from 0.5 to 1.")
    lengths: list[float] = Field(description="Tokens a text: every tenth percentile, from the shortest to the longest.")
    unknown_rate: Share
    embedding: list[float]


class FileFacts(Part):
    """A file's size and hash."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: Digest


class Manifest(Part):
    """All that is known of a bundle; `figures` and `origin` are for people, nothing is computed with them."""

    format: Literal[1] = 1
    name: str
    made_with: str
    made_at: str
    task: Literal["multilabel", "multiclass", "ner"]
    labels: Annotated[list[Label], Field(min_length=1)]
    reading: Reading
    model: Model
    tagging: Tagging | None = None
    reference: Reference | None = None
    figures: dict[str, Any] = {}
    origin: dict[str, Any] = {}
    files: dict[str, FileFacts]

    @model_validator(mode="after")
    def _tells_how_to_tag(self) -> Manifest:
        tags = 2 * len(self.labels) + 1
        if (self.task == "ner") != (self.tagging is not None):
            raise ValueError("a bundle says how it tags if, and only if, it finds entities")
        if self.tagging is not None:
            moves = [self.tagging.first, self.tagging.last, *self.tagging.between]
            if any(len(row) not in (0, tags) for row in moves) or len(self.tagging.between) not in (0, tags):
                raise ValueError(f"moves between {tags} tags are expected")
        return self
