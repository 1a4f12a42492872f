"""Answering a long file with a bundle, a chunk of texts a task: what is answered stays when the run is stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from limbeck.runtime.bundle import Bundle
from limbeck.runtime.load import opened
from limbeck.runtime.predictor import Predictor
from limbeck.runtime.stream import AT_ONCE, answers_to, entities_in
from limbeck.runtime.tagger import EntityPredictor
from limbeck.scale.local import Executor
from limbeck.scorer import fields_alone
from limbeck.store import code_version, key_of, write_atomically

# Groups of texts that a task is given.
GROUPS = 20
# What answers are made with.
LIBRARIES = ("numpy", "onnxruntime", "tokenizers")

Chunk = tuple[str, list[str]]


@dataclass(frozen=True)
class Answering:
    """A bundle that is opened where it answers."""

    bundle: Bundle
    threads: int = 1
    probabilities: bool = True

    __getstate__ = fields_alone

    @cached_property
    def model(self) -> Predictor | EntityPredictor:
        """The bundle at work."""
        return opened(self.bundle, self.threads)

    @cached_property
    def key(self) -> str:
        """A hash of everything that an answer depends on but its text."""
        files = {name: facts.sha256 for name, facts in self.bundle.manifest.files.items()}
        code = [code_version(f"limbeck.{name}") for name in ("runtime", "text")]
        return key_of([files, code, self.probabilities])

    def __call__(self, chunk: Chunk) -> tuple[str, str]:
        """Answer a chunk's texts, one JSON a line."""
        key, texts = chunk
        if isinstance(self.model, Predictor):
            answers = answers_to(self.model, texts, AT_ONCE, self.probabilities)
        else:
            answers = entities_in(self.model, texts, AT_ONCE)
        return key, "".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers)


def answer_file(answering: Answering, texts: Iterable[str], target: Path, executor: Executor) -> None:
    """Write answers to `target`, in the order of the texts; it appears when it is complete.

    Until then chunks that are answered stand in a folder beside it, and the same command goes on from there.
    """
    parts = target.with_name(f".{target.name}.parts")
    keys: list[str] = []

    def missing() -> Iterator[Chunk]:
        waiting, given = iter(texts), set[str]()
        while some := list(islice(waiting, AT_ONCE * GROUPS)):
            keys.append(key_of([answering.key, some]))
            if keys[-1] not in given and not (parts / keys[-1]).is_file():
                given.add(keys[-1])
                yield keys[-1], some

    for key, lines in executor.stream(answering, missing(), "chunks of texts"):
        write_atomically(parts / key, lines)
    whole = target.with_name(f"{target.name}.part")
    with whole.open("wb") as out:
        for key in keys:
            with (parts / key).open("rb") as part:
                shutil.copyfileobj(part, out)
    whole.replace(target)
    shutil.rmtree(parts, ignore_errors=True)
