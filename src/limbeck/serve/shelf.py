"""The models that a server answers with, by name; each can be exchanged while it answers."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.errors import BadSetting
from limbeck.runtime.bundle import CARD, read_bundle
from limbeck.runtime.confidence import confidence
from limbeck.runtime.load import classifier, tagger
from limbeck.runtime.manifest import Manifest
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.tagger import EntityPredictor
from limbeck.serve.batching import Batcher, Ran
from limbeck.serve.limits import Limits
from limbeck.serve.window import Window, entities_in

# Texts that a new model answers before anyone waits for it: short and long ones.
WARM_UP = ("a", "The train was late and nobody told us why. " * 3, "and so on " * 200)
WARM_TURNS = 10
DIGITS = 5
# How fast the usual number of texts a request follows what is seen: one large request says little of the next.
FOLLOWS = 0.01
# Which share of a deadline requests may wait before more are refused unread.
PATIENCE = 0.5
# Of so many batches one is looked at for its embeddings, which cost as much as answers.
EMBEDDED = 16


@dataclass(frozen=True)
class Answered:
    """What a model says of one text, as plain values, and which model it was.

    `sure` is the least confidence of any category; `clear` that of the surest one that was found, if one was.
    """

    model: Loaded
    told: dict[str, Any]
    labels: list[str]
    sure: float
    clear: float


@dataclass(frozen=True)
class Batch:
    """What is kept of a batch's answers for the window, and the seconds that reading its texts took."""

    given: Any
    confidence: Any
    lengths: Sequence[int]
    unknown: Sequence[int]
    reading: float
    embeddings: Any = None
    tokens: Sequence[int] | None = None


@dataclass(frozen=True)
class Loaded:
    """A model that answers; `version` changes with any byte of its bundle; `titles` are what people read of labels."""

    name: str
    version: str
    folder: Path
    predictor: Predictor | EntityPredictor
    thresholds: dict[str, float]
    titles: dict[str, str]
    card: str

    @cached_property
    def head(self) -> bytes:
        """What begins the JSON of every prediction, up to its answers."""
        told = self.about(self.thresholds) | {"answers": 0}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()[:-2]

    def about(self, labels: Container[str]) -> dict[str, Any]:
        """Say whose answers follow, with the thresholds of some labels."""
        some = {name: limit for name, limit in self.thresholds.items() if name in labels}
        return {"model": self.name, "version": self.version, "task": self.manifest.task, "thresholds": some}

    @property
    def manifest(self) -> Manifest:
        """What its bundle tells."""
        return self.predictor.manifest

    def answers(self, texts: Sequence[str], embed: bool = False) -> tuple[list[Answered], Batch]:
        """Answer each text."""
        if isinstance(self.predictor, EntityPredictor):
            return self._entities(self.predictor, texts)
        return self._categories(self.predictor, texts, embed)

    def _categories(self, predictor: Predictor, texts: Sequence[str], embed: bool) -> tuple[list[Answered], Batch]:
        scored = predictor.score(texts)
        proba, read = scored.proba, scored.read
        one_class = predictor.manifest.task == "multiclass"
        if one_class:
            sure = clear = proba.max(axis=1)
            given = proba == sure[:, None]
        else:
            certain = confidence(proba, predictor.thresholds)
            sure = certain.min(axis=1)
            given = proba >= predictor.thresholds
            clear = np.where(given.any(axis=1), (certain * given).max(axis=1), sure)
        names = predictor.labels
        unknown = predictor.manifest.reading.unknown_id
        answers = []
        lengths, strange = [], []
        # Arrays at once: of a thousand labels, a loop would take longer than the network.
        shown = proba.astype(np.float64).round(DIGITS)
        rows = zip(shown.tolist(), given, sure.tolist(), clear.tolist(), read, strict=True)
        for row, chosen, least, most, one in rows:
            labels = [names[place] for place in np.flatnonzero(chosen).tolist()]
            tokens = sum(map(len, one.windows))
            told = {
                "labels": labels,
                "probabilities": dict(zip(names, row, strict=True)),
                "confidence": round(least, DIGITS),
                "tokens": tokens,
                "truncated": one.cut,
            }
            answers.append(Answered(self, told, labels, least, most))
            lengths.append(tokens)
            strange.append(sum(window.count(unknown) for window in one.windows) if unknown is not None else 0)
        vectors = predictor.embed(texts) if embed and predictor.manifest.model.embedding else None
        return answers, Batch(given, sure, lengths, strange, scored.reading, vectors)

    def _entities(self, predictor: EntityPredictor, texts: Sequence[str]) -> tuple[list[Answered], Batch]:
        answers = []
        found = predictor.predict(texts)
        for entities in found:
            told = {"entities": [asdict(one) | {"confidence": round(one.confidence, DIGITS)} for one in entities]}
            sure = [one.confidence for one in entities] or [1.0]
            answers.append(Answered(self, told, sorted({one.type for one in entities}), min(sure), max(sure)))
        seen = entities_in(predictor, texts, found)
        return answers, Batch(**seen, reading=0.0)


def load_model(name: str, folder: Path, threads: int) -> tuple[Loaded, float]:
    """Check and load a bundle and let it answer a few texts; give it, and the seconds that it takes for a text."""
    bundle = read_bundle(folder)
    # Answers tell if a text's end was not read; nobody reads warnings here.
    ner = bundle.manifest.task == "ner"
    predictor = tagger(bundle, threads) if ner else classifier(bundle, threads, warn=False)
    version = hashlib.sha256(json.dumps(asdict(bundle.manifest), sort_keys=True).encode()).hexdigest()[:12]
    labels = bundle.manifest.labels
    thresholds = {label.name: round(label.threshold, DIGITS) for label in labels}
    titles = {label.name: label.title for label in labels}
    card = (folder / CARD).read_text(encoding="utf-8", errors="replace")
    model = Loaded(name, version, folder, predictor, thresholds, titles, card)
    for text in WARM_UP:
        model.answers([text])
    taken = []
    for _ in range(WARM_TURNS):
        began = time.perf_counter()
        model.answers([WARM_UP[1]])
        taken.append(time.perf_counter() - began)
    return model, sorted(taken)[WARM_TURNS // 2]


class Served:
    """A name under which a model answers, batch by batch, and what it answered lately."""

    def __init__(
        self, model: Loaded, seconds: float, limits: Limits, on_batch: Callable[[str, Ran, float], None]
    ) -> None:
        """Answer with `model`, which takes so many seconds for a text."""
        self.model, self.name = model, model.name
        self.batcher: Batcher[Answered] = Batcher(self._answers, limits, self._ran, seconds)
        self.window = Window(model.manifest)
        self._on_batch, self._batches = on_batch, 0
        self._fresh: list[tuple[Loaded, Batch]] = []

    async def answer(self, texts: Sequence[str], deadline: float) -> Sequence[Answered]:
        """Give one answer a text, all of one model."""
        return await self.batcher.answer(texts, deadline)

    def exchange(self, model: Loaded, seconds: float) -> None:
        """Answer with another model from the next batch on; what is compared with the past begins anew."""
        self.model = model
        self.batcher.seconds_a_text = seconds
        self.window = Window(model.manifest)

    def _answers(self, texts: list[str]) -> Sequence[Answered]:
        # Taken once: a batch is answered by one model, whatever is exchanged meanwhile.
        model = self.model
        self._batches += 1
        found, batch = model.answers(texts, embed=self._batches % EMBEDDED == 0)
        self._fresh.append((model, batch))
        return found

    def _ran(self, ran: Ran) -> None:
        reading = 0.0
        for model, batch in self._fresh:
            reading += batch.reading
            if model is self.model:
                self.window.add(
                    batch.given, batch.confidence, batch.lengths, batch.unknown, batch.embeddings, batch.tokens
                )
        self._fresh.clear()
        self._on_batch(self.name, ran, reading)


class Shelf:
    """All models of a server; the first is the one that answers if none is named."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        limits: Limits,
        threads: int = 1,
        on_batch: Callable[[str, Ran, float], None] = lambda name, ran, reading: None,
    ) -> None:
        """Load all of them; one that can't be loaded is an error."""
        if not folders:
            raise BadSetting("There is no bundle to serve.", "Name one: limbeck serve BUNDLE")
        self._folders, self._threads = dict(folders), threads
        self.models = {
            name: Served(*load_model(name, folder, threads), limits, on_batch) for name, folder in folders.items()
        }
        self.first = next(iter(self.models))
        self._most, self._patience = limits.waiting, PATIENCE * limits.deadline
        # How many texts a request usually has.
        self._usual = 1.0

    @property
    def waiting(self) -> int:
        """How many texts wait for any model."""
        return sum(one.batcher.waiting for one in self.models.values())

    def asked(self, texts: int) -> None:
        """Note how many texts a request had."""
        self._usual += FOLLOWS * (texts - self._usual)

    def busy(self, requests: int) -> bool:
        """Say whether there is enough to do, with so many requests whose texts nobody has counted yet."""
        waiting = self.waiting
        if requests * self._usual >= self._most or waiting >= self._most:
            return True
        # A slow model has too much to do long before so many texts wait for it.
        return waiting > 0 and sum(one.batcher.seconds_to_wait for one in self.models.values()) > self._patience

    def named(self, name: str | None) -> Served | None:
        """Give a model by name, or the first."""
        return self.models.get(name or self.first)

    def to_load(self, names: Iterable[str] = (), folder: Path | None = None) -> dict[str, Path]:
        """Say where models are to be loaded from anew: all or some, one perhaps from another folder."""
        chosen = list(names) or list(self.models)
        unknown = [name for name in chosen if name not in self.models]
        if unknown:
            raise BadSetting(f"There is no model '{unknown[0]}'.", f"Models: {', '.join(self.models)}.")
        if folder is not None and len(chosen) > 1:
            raise BadSetting("One folder can't be several models.", "Say which model it is.")
        return {name: folder or self._folders[name] for name in chosen}

    def exchange(self, model: Loaded, seconds: float) -> str:
        """Put a loaded model, which takes so many seconds for a text, in its place; gives its version."""
        self._folders[model.name] = model.folder
        self.models[model.name].exchange(model, seconds)
        return model.version

    def close(self) -> None:
        """End all threads."""
        for one in self.models.values():
            one.batcher.close()


def named_folders(told: Sequence[str]) -> dict[str, Path]:
    """Read `NAME=FOLDER` or `FOLDER`, whose own name it then has."""
    found: dict[str, Path] = {}
    for one in told:
        name, equals, folder = one.partition("=")
        path = Path(folder if equals else one)
        key = name if equals else path.resolve().name
        if key in found:
            raise BadSetting(f"Two models have the name '{key}'.", "Name them: NAME=FOLDER")
        if not key or "/" in key:
            raise BadSetting(f"'{key}' is no name for a model.", "Use letters, digits, '-' and '_'.")
        found[key] = path
    return found
