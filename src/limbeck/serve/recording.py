"""What is kept of what people write: only if the owner wants it, scrubbed, and for some days."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from limbeck.annotate.store import Store, open_store
from limbeck.annotate.texts import DRIFTED, NOT_HELPED, SAMPLED, UNCERTAIN, NewText, Vote
from limbeck.annotate.writer import GroupWriter
from limbeck.errors import StoreBusy, StoreError
from limbeck.serve.refusals import Refusal
from limbeck.serve.settings import Storing
from limbeck.serve.shelf import Answered
from limbeck.text import Cleaner

# Personal data goes before a text is stored, whatever the model reads.
SCRUBBED = ("scrub-email", "scrub-iban", "scrub-ticket", "scrub-phone")
SERVER, TRAVELLER = "server", "feedback"
# How often what is too old is deleted, in seconds.
TIDIED_EVERY = 600.0
SHOWN = 20


class Recorder:
    """Decides what is kept, and hands it to the store's writer."""

    def __init__(self, store: Store, storing: Storing) -> None:
        """Keep texts in `store`."""
        self._store, self._writer, self._storing = store, GroupWriter(store), storing
        self._scrub = Cleaner(SCRUBBED)
        # Texts of a model's label that are still wanted, because it moved.
        self._wanted: dict[tuple[str, str], int] = {}
        self._tidied = 0.0

    def want(self, suggested: Mapping[str, Mapping[str, int]], workers: int = 1) -> None:
        """Keep this worker's share of texts of labels that moved, by model; once for each time that one moves."""
        told = {
            (model, label): -(-count // workers)
            for model, labels in suggested.items()
            for label, count in labels.items()
        }
        self._wanted = {key: self._wanted.get(key, count) for key, count in told.items()}

    def reason(self, answer: Answered) -> str | None:
        """Say why a text is kept, if it is."""
        if answer.sure < self._storing.below:
            return UNCERTAIN
        for label in answer.labels if self._wanted else ():
            left = self._wanted.get((answer.model.name, label), 0)
            if left:
                self._wanted[answer.model.name, label] = left - 1
                return DRIFTED
        return SAMPLED if self._storing.sample and random.random() < self._storing.sample else None

    async def feedback(self, text: str, answer: Answered, language: str | None) -> str | None:
        """Keep a traveller's text, if there is a reason to; it is on the disk when this gives its id."""
        reason = self.reason(answer)
        if reason is None:
            return None
        return str(await self._kept(self._new(text, answer, reason, TRAVELLER, language)))

    async def did_not_help(self, text: str, answer: Answered, language: str | None) -> str | None:
        """Keep a text whose reply didn't help."""
        kept = str(await self._kept(self._new(text, answer, NOT_HELPED, TRAVELLER, language)))
        await self._kept(Vote(kept, False, secrets.token_hex(8)))
        return kept

    async def vote(self, public_id: str, helped: bool) -> bool:
        """Keep a vote on a kept text; False if there is no such text."""
        # Several people may have sent the same text; nobody knows who votes.
        return bool(await self._kept(Vote(public_id, helped, secrets.token_hex(8))))

    def sample(self, texts: Sequence[str], answers: Sequence[Answered]) -> None:
        """Keep some of what other programs ask; nothing was promised to them, and they don't wait for it."""
        for text, answer in zip(texts, answers, strict=True):
            reason = self.reason(answer)
            if reason is not None:
                try:
                    self._writer.submit(self._new(text, answer, reason, SERVER, None)).add_done_callback(_forget)
                except StoreError:
                    return

    async def uncertain(self) -> list[dict[str, Any]]:
        """Give the last texts that a model wasn't sure of."""
        found = await asyncio.to_thread(self._store.uncertain, SHOWN)
        return [
            {"text": one.text, "labels": one.labels, "confidence": one.confidence, "at": one.last_seen} for one in found
        ]

    async def tidy(self) -> None:
        """Delete what is too old, now and then."""
        now = time.monotonic()
        if not self._tidied or now - self._tidied > TIDIED_EVERY:
            self._tidied = now
            try:
                await asyncio.to_thread(self._store.purge)
            except StoreError:  # the next time
                return

    def close(self) -> None:
        """Write what waits."""
        self._writer.close()
        self._store.close()

    def _new(self, text: str, answer: Answered, reason: str, source: str, language: str | None) -> NewText:
        return NewText(
            text=self._scrub(text),
            source=source,
            reason=reason,
            model=answer.model.name,
            version=answer.model.version,
            labels=answer.labels,
            probabilities=answer.told.get("probabilities"),
            # Places in the text would not fit the scrubbed one.
            entities=None,
            confidence=answer.sure,
            language=language,
            keep_days=self._storing.days,
        )

    async def _kept(self, entry: NewText | Vote) -> str | bool:
        try:
            if isinstance(entry, Vote):
                return await asyncio.wrap_future(self._writer.vote(entry))
            return await asyncio.wrap_future(self._writer.submit(entry))
        except StoreBusy:
            raise Refusal(503, "The store is busy. Try again soon.", headers={"retry-after": "1"}) from None
        except StoreError as error:
            raise Refusal(503, f"The text could not be stored ({error.code}).", code="not_stored") from None


def _forget(future: Any) -> None:  # noqa: ANN401 - a future of any kind
    future.exception()


def open_recorder(storing: Storing) -> Recorder:
    """Open the store."""
    return Recorder(open_store(storing.url), storing)
