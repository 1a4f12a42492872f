"""What stands in a bundle's `bundle.json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from limbeck.runtime.facts import Matches, Within, not_empty

FORMAT = 1

# What runs a graph: onnxruntime, which always can, or OpenVINO in floats of 32 bits or, where processors have them, 16.
Backend = Literal["onnxruntime", "openvino", "openvino-bf16"]
Share = Annotated[float, Within(0, 1)]
Count = Annotated[int, Within(0)]
Digest = Annotated[str, Matches("[0-9a-f]{64}")]


@dataclass(frozen=True, kw_only=True)
class Label:
    """A category: its name, the title that people read, and the probability from which on it is given.

    For entities: a type, and the confidence from which on one of it is given.
    """

    name: Annotated[str, Matches(".+")]
    title: str
    threshold: Share


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a text becomes token ids: cleaning, special tokens included in `max_tokens`, and what is done past them.

    `truncate` reads the first tokens. `windows` reads all of a text in pieces that share `overlap` tokens, up to
    `max_windows` of them; a label's probability is the highest (`max`) or the mean over the pieces.
    """

    clean: list[str]
    max_tokens: Annotated[int, Within(3)]
    long_texts: Literal["truncate", "windows"] = "truncate"
    overlap: Count = 0
    max_windows: Annotated[int, Within(1)] = 64
    combine: Literal["max", "mean"] = "max"
    pad_id: Count
    unknown_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class Model:
    """What the network is: its kind, the recipe that made it small, and how many numbers it holds.

    `embedding` is the width of the output of that name; 0 means that there is none. `backend` is what the graph was
    judged and timed with; where that is not installed, onnxruntime runs the same graph.
    """

    kind: str
    recipe: str
    parameters: Count
    embedding: Count = 0
    backend: Backend = "onnxruntime"


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """How a tagger's words become inputs, and how its scores become entities.

    `between`, `first` and `last` are what moves from tag to tag score; empty ones score 0. An entity's confidence is
    the logistic function of `slope` times the log-odds that its tags have together, plus `offset`.
    """

    reads: Literal["vectors", "encoder"]
    marks: Literal["characters", "affixes"] = "affixes"
    alphabet: str = ""
    between: list[list[float]] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    slope: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Cascading:
    """How two models answer together: below `confidence` of the small one the larger one does.

    `thresholds` are the small model's own; the bundle's labels have the larger one's, in whose terms all answers are.
    `passed_on` is the share of texts that the larger one answered when the limit was fitted.
    """

    confidence: Share
    thresholds: list[Share]
    passed_on: Share
    reading: Reading
    model: Model


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What the world was like when the model was made: later texts are compared with it.

    `confidence` has the shares of texts by confidence, in equal bins from 0.5 to 1; `lengths` the tokens a text: every
    tenth percentile, from the shortest to the longest.
    """

    texts: Count
    label_rates: dict[str, Share]
    confidence: list[Share]
    lengths: list[float]
    unknown_rate: Share
    embedding: list[float]


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """A file's size and hash."""

    bytes: Count
    sha256: Digest


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All that is known of a bundle; `figures` and `origin` are for people, nothing is computed with them."""

    format: Literal[1] = 1
    name: str
    made_with: str
    made_at: str
    task: Literal["multilabel", "multiclass", "ner"]
    labels: Annotated[list[Label], not_empty]
    reading: Reading
    model: Model
    tagging: Tagging | None = None
    cascade: Cascading | None = None
    reference: Reference | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, Any] = field(default_factory=dict)
    files: dict[str, FileFacts]

    def __post_init__(self) -> None:
        """Check what no fact can tell alone."""
        tags = 2 * len(self.labels) + 1
        if (self.task == "ner") != (self.tagging is not None):
            raise ValueError("a bundle says how it tags if, and only if, it finds entities")
        if self.cascade is not None and (self.task == "ner" or len(self.cascade.thresholds) != len(self.labels)):
            raise ValueError("a cascade gives categories, and has a threshold of each for its small model")
        if self.tagging is not None:
            moves = [self.tagging.first, self.tagging.last, *self.tagging.between]
            if any(len(row) not in (0, tags) for row in moves) or len(self.tagging.between) not in (0, tags):
                raise ValueError(f"moves between {tags} tags are expected")
