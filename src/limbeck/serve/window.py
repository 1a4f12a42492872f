"""What was answered lately, as counts and sums: those of several processes can be added up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import reduce
from itertools import chain, islice
from operator import add
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from limbeck.runtime.confidence import confidence
from limbeck.runtime.facts import Within, read_part
from limbeck.runtime.manifest import Manifest, Reference
from limbeck.runtime.predictor import Predictor

if TYPE_CHECKING:
    from limbeck.runtime.tagger import Entity, EntityPredictor
    from limbeck.scorer import Span

SIZE, BLOCKS = 2000, 10
# Bins of confidence where no reference says how many.
BINS = 10
# Embeddings are followed along so many directions, the same in every process.
DIRECTIONS, SEED = 8, 20_240_229
AT_ONCE = 1024

Numbers = Sequence[int] | NDArray[Any]
Doubles = NDArray[np.float64]
Row = tuple[NDArray[Any], Sequence[float] | NDArray[Any], Numbers, Numbers, Numbers, NDArray[Any] | None]
# What JSON can carry exactly, and what can be squared.
Count = Annotated[int, Within(0, 2**53)]
Real = Annotated[float, Within(-1e30, 1e30)]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A window's contents; each number of two of them may be added.

    `given` has the texts that got a label, or that have an entity of a type; `with_entities` those that have any, and
    is None where each text has one confidence. `lengths` counts texts below, at and between the lengths that
    `length_edges` gives. `squared` are sums over texts of unknown², unknown · tokens and tokens². `along` sums, for
    each direction, how far embeddings lie from the reference's mean, `along_squared` the squares of that.
    """

    texts: Count = 0
    given: dict[str, Count] = field(default_factory=dict)
    with_entities: Count | None = None
    confidence: list[Count] = field(default_factory=list)
    lengths: list[Count] = field(default_factory=list)
    unknown: Count = 0
    tokens: Count = 0
    squared: list[Count] = field(default_factory=list)
    embeddings: Count = 0
    embedding: list[Real] = field(default_factory=list)
    along: list[Real] = field(default_factory=list)
    along_squared: list[Real] = field(default_factory=list)

    def __add__(self, other: Snapshot) -> Snapshot:
        """Give the contents of both; they must be of one bundle."""
        return Snapshot(**{one.name: _sum(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)})


def _sum(one: Any, other: Any) -> Any:  # noqa: ANN401 - any field of a snapshot
    if isinstance(one, dict):
        if one.keys() != other.keys():
            raise ValueError(f"Windows of different bundles: labels {', '.join(one)}, and {', '.join(other)}.")
        return {name: count + other[name] for name, count in one.items()}
    if isinstance(one, list):
        if len(one) != len(other):
            raise ValueError(f"Windows of different bundles: {len(one)} numbers, and {len(other)}.")
        return list(map(add, one, other))
    return None if one is None or other is None else one + other


def merged(snapshots: Iterable[Snapshot | Mapping[str, Any]]) -> Snapshot:
    """Add up windows of one bundle, also as JSON gives them; what is no window is a ValueError."""
    read = (one if isinstance(one, Snapshot) else read_part(Snapshot, dict(one)) for one in snapshots)
    first = next(read, None)
    return Snapshot() if first is None else reduce(add, read, first)


def length_edges(reference: Reference | None) -> Doubles:
    """Give the different lengths among a reference's percentiles, in order.

    Percentiles of whole numbers may miss them by the last digit, which would make equal lengths unequal.
    """
    return np.unique(np.round(np.array(reference.lengths if reference else [], dtype=np.float64), 6))


class Window:
    """A rolling window over what a bundle answered. It may be used from several threads at a time.

    It is made of blocks: the oldest one is forgotten as soon as the others have `size` texts.
    """

    def __init__(self, manifest: Manifest, size: int = SIZE, blocks: int = BLOCKS) -> None:
        """Keep the last `size` texts, and up to a block, size / blocks, more; a batch is never divided."""
        reference = manifest.reference
        self.labels = tuple(label.name for label in manifest.labels)
        self._size, self._block = size, max(1, size // max(1, blocks))
        self._by_entity = manifest.task == "ner"
        self._bins = len(reference.confidence) if reference and reference.confidence else BINS
        self._edges = length_edges(reference)
        self._mean = np.array(reference.embedding if reference else [], dtype=np.float64)
        self._directions = _directions(len(self._mean))
        self._blocks: deque[Snapshot] = deque()
        self._kept = 0
        self._rows: list[Row] = []
        self._waiting = 0
        self._lock = Lock()

    def add(
        self,
        given: NDArray[Any],
        confidence: Sequence[float] | NDArray[Any],
        lengths: Numbers,
        unknown: Numbers,
        embeddings: NDArray[Any] | None = None,
        tokens: Numbers | None = None,
    ) -> None:
        """Take what a batch of n texts was answered; arrays are kept for a while, so don't write into them.

        `given` [n, labels] says which labels texts got, or of which types they have entities. `confidence` has one
        number a text or, of entities, one an entity. `unknown` counts among `tokens`, which are `lengths` where nothing
        else is given. `embeddings` [any, width] may be those of some texts only.
        """
        texts = len(lengths)
        if given.shape != (texts, len(self.labels)) or len(unknown) != texts:
            raise ValueError(f"{texts} lengths, {len(unknown)} counts of unknown tokens, labels of {given.shape}.")
        if embeddings is not None and len(self._mean) and embeddings.shape[1:] != self._mean.shape:
            raise ValueError(f"Embeddings of {embeddings.shape}; they must be {len(self._mean)} wide.")
        with self._lock:
            # Arrays of one text cost more to count than to keep: they are counted when there are many.
            self._rows.append((given, confidence, lengths, unknown, lengths if tokens is None else tokens, embeddings))
            self._waiting += texts
            if self._waiting >= self._block:
                self._turn()

    def snapshot(self) -> dict[str, Any]:
        """Give the contents as plain values."""
        with self._lock:
            blocks = [*self._blocks, self._counted()]
        return asdict(reduce(add, blocks))

    def _turn(self) -> None:
        """Close the block that is being filled, and forget those that are too old."""
        block = self._counted()
        self._rows, self._waiting = [], 0
        self._blocks.append(block)
        self._kept += block.texts
        while self._kept - self._blocks[0].texts >= self._size:
            self._kept -= self._blocks.popleft().texts

    def _counted(self) -> Snapshot:
        """Count what waits."""
        rows = self._rows
        given = np.concatenate([np.zeros((0, len(self.labels)), dtype=bool), *(row[0] for row in rows)])
        sure = np.concatenate([np.zeros(0), *(row[1] for row in rows)])
        lengths, unknown, tokens = (_whole([row[place] for row in rows]) for place in (2, 3, 4))  # type: ignore[misc]
        found = [row[5] for row in rows if row[5] is not None]
        # Twice the edge's place, one more at the edge itself.
        cells = np.searchsorted(self._edges, lengths, "left") + np.searchsorted(self._edges, lengths, "right")
        return Snapshot(
            texts=len(lengths),
            given=dict(zip(self.labels, given.sum(axis=0).tolist(), strict=True)),
            with_entities=int(given.any(axis=1).sum()) if self._by_entity else None,
            confidence=np.histogram(np.clip(sure, 0.5, 1), bins=self._bins, range=(0.5, 1))[0].tolist(),
            lengths=np.bincount(cells, minlength=2 * len(self._edges) + 1).tolist(),
            unknown=int(unknown.sum()),
            tokens=int(tokens.sum()),
            squared=[int(one @ other) for one, other in ((unknown, unknown), (unknown, tokens), (tokens, tokens))],
            **self._embedded(found),
        )

    def _embedded(self, found: Sequence[NDArray[Any]]) -> dict[str, Any]:
        """Sum embeddings up; those that are no numbers don't count."""
        if not len(self._mean):
            return {}
        rows = np.concatenate([np.zeros((0, len(self._mean))), *found])
        rows = rows[np.isfinite(rows).all(axis=1)]
        along = (rows - self._mean) @ self._directions
        return {
            "embeddings": len(rows),
            "embedding": rows.sum(axis=0).tolist(),
            "along": along.sum(axis=0).tolist(),
            "along_squared": (along**2).sum(axis=0).tolist(),
        }


def _directions(width: int) -> Doubles:
    """Give unit vectors [width, directions]."""
    drawn = np.random.default_rng(SEED).standard_normal((width, DIRECTIONS))
    units: Doubles = drawn / np.maximum(np.linalg.norm(drawn, axis=0), 1e-12)
    return units


def _whole(parts: Sequence[Numbers]) -> NDArray[np.int64]:
    # Most parts are a number or two, for which making an array of each takes longest.
    return np.fromiter(chain.from_iterable(parts), dtype=np.int64)


def snapshot_of(model: Predictor | EntityPredictor, texts: Iterable[str], at_once: int = AT_ONCE) -> Snapshot:
    """Answer texts, and give the window that would hold them all."""
    return merged(_windows(model, iter(texts), at_once))


def _windows(model: Predictor | EntityPredictor, texts: Iterator[str], at_once: int) -> Iterator[Mapping[str, Any]]:
    # The first is empty, so that no text at all gives a window as well.
    yield Window(model.manifest).snapshot()
    while some := list(islice(texts, at_once)):
        window = Window(model.manifest)
        window.add(**(categories_seen(model, some) if isinstance(model, Predictor) else entities_seen(model, some)))
        yield window.snapshot()


def categories_seen(model: Predictor, texts: Sequence[str]) -> dict[str, Any]:
    """Answer texts; give what `Window.add` takes, by name. It is what the bundle's reference was made of."""
    scored = model.score(texts)
    proba = scored.proba
    one_class = model.manifest.task == "multiclass"
    read = [[number for window in one.windows for number in window] for one in scored.read]
    return {
        "given": proba == proba.max(axis=1, keepdims=True) if one_class else proba >= model.thresholds,
        "confidence": proba.max(axis=1) if one_class else confidence(proba, model.thresholds).min(axis=1),
        "lengths": list(map(len, read)),
        "unknown": [ids.count(model.manifest.reading.unknown_id) for ids in read],  # type: ignore[arg-type]
        "embeddings": model.embed(texts) if model.manifest.model.embedding else None,
    }


def entities_seen(model: EntityPredictor, texts: Sequence[str]) -> dict[str, Any]:
    """Look for entities in texts; give what `Window.add` takes, by name."""
    return entities_in(model, texts, model.tag(texts))


def entities_in(
    model: EntityPredictor, texts: Sequence[str], found: Sequence[Sequence[Span | Entity]]
) -> dict[str, Any]:
    """Give what `Window.add` takes of texts whose entities are found already."""
    words = [text.split() for text in texts]
    read = [np.ravel(model.reader.read(mine)[0]) if mine else np.zeros(0) for mine in words]
    unknown = model.manifest.reading.unknown_id
    return {
        "given": np.array([[any(one.type == name for one in spans) for name in model.labels] for spans in found]),
        "confidence": [one.confidence for spans in found for one in spans],
        "lengths": list(map(len, words)),
        "unknown": [0 if unknown is None else int((ids == unknown).sum()) for ids in read],
        "tokens": list(map(len, read)),
    }
