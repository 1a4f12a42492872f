"""Sentences without tags: read once each, scored by the teacher a shard at a time, and chosen by its confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from limbeck.config import DataSettings, PseudoSettings
from limbeck.data.conll import CONLL_ENDINGS, read_conll
from limbeck.data.near import Signatures, near_copies
from limbeck.data.records import Record, read_records
from limbeck.data.tagged import PreparedSentences
from limbeck.errors import BrokenRow, ColumnMissing, InputChanged, Place, nearest
from limbeck.runtime.tagger import ENDS
from limbeck.runtime.wordinputs import MOST_WORDS, parts
from limbeck.scale import Executor, ThisMachine
from limbeck.scorer import Floats, Preparable
from limbeck.store import Store, key_of, link_or_copy
from limbeck.tagging.examples import Guesses
from limbeck.tagging.scorer import WordScorer, log_softmax
from limbeck.text import normalise
from limbeck.text.words import words

SENTENCES = "sentences.parquet"
TASK_KIND = "tasks/tagged"
# Sentences that are scored, and kept, together.
SHARD = 4000
# Scaled confidences at which the share of sentences that stay is told.
TOLD = (0.5, 0.7, 0.85, 0.95, 0.99)


def gather_sentences(
    files: Sequence[Path], settings: DataSettings, prepared: PreparedSentences, out: Path
) -> dict[str, float]:
    """Write the different sentences of a pool, without those that are labelled or that judge; long ones in parts.

    Of near copies the first is left if the settings say so: the pool is then read twice.
    """
    counts = {"rows": 0.0, "sentences": 0.0, "words": 0.0, "empty": 0.0, "repeated": 0.0, "near": 0.0, "saved": 0.0}
    copies: frozenset[int] = frozenset()
    if settings.near_duplicates:
        copies = _near_copies(_different(files, settings, prepared, dict(counts)), settings.near_duplicates, out)
    schema = pa.schema([("words", pa.list_(pa.string()))])
    with pq.ParquetWriter(out / SENTENCES, schema) as writer:
        waiting: list[list[str]] = []
        number = -1
        for number, text in enumerate(_different(files, settings, prepared, counts)):
            if number in copies:
                continue
            tokens = [text[a:b] for a, b in words(text)]
            for first, last in parts([1] * len(tokens), [token in ENDS for token in tokens], MOST_WORDS):
                waiting.append(tokens[first:last])
                counts["sentences"] += 1
                counts["words"] += last - first
            if len(waiting) >= SHARD:
                writer.write_table(pa.table({"words": waiting[:SHARD]}, schema), SHARD)
                waiting = waiting[SHARD:]
        if waiting or not counts["sentences"]:
            writer.write_table(pa.table({"words": waiting}, schema), SHARD)
    return counts | {"near": float(len(copies)), "saved": len(copies) / max(1, number + 1)}


def _different(
    files: Sequence[Path], settings: DataSettings, prepared: PreparedSentences, counts: dict[str, float]
) -> Iterator[str]:
    """Give each text of a pool once that is neither labelled nor judges, and count the rows."""
    taken = {normalise(s.text) for s in [*prepared.train, *prepared.dev, *prepared.test]}
    for text in pool_texts(files, settings):
        counts["rows"] += 1
        plain = normalise(text)
        if not plain or plain in taken:
            counts["repeated" if plain else "empty"] += 1
            continue
        taken.add(plain)
        yield text


def _near_copies(texts: Iterator[str], limit: float, out: Path) -> frozenset[int]:
    with Signatures(out / "signatures.bin") as signatures:
        signatures.add(texts)
        return frozenset(np.flatnonzero(near_copies(signatures, limit).of >= 0).tolist())


def pool_texts(files: Sequence[Path], settings: DataSettings) -> Iterator[str]:
    """Give the sentences of a pool as plain text, one by one."""
    for file in files:
        if file.suffix in CONLL_ENDINGS:
            yield from (sentence.text for sentence in read_conll(file, settings.max_line_bytes))
            continue
        for line, record in read_records(file, settings.max_line_bytes):
            yield _text(record, settings, Place(file, line))


def _text(record: Record, settings: DataSettings, place: Place) -> str:
    """Give a row's text, or its words joined by spaces."""
    told: Any = record.get(settings.text_column, record.get("tokens"))
    if isinstance(told, list) and all(isinstance(word, str) for word in told):
        return " ".join(told)
    if isinstance(told, str):
        return told
    if told is None and settings.text_column not in record and "tokens" not in record:
        raise ColumnMissing(
            f"The row has neither '{settings.text_column}' nor 'tokens'.",
            nearest(settings.text_column, [str(name) for name in record]),
            place,
        )
    if told is None:
        return ""
    raise BrokenRow(f"The text is {told!r:.60}.", "Write a string, or a list of words under 'tokens'.", place)


def shards_of(folder: Path) -> Iterator[list[list[str]]]:
    """Give the sentences of a gathered pool, a shard at a time."""
    for batch in pq.ParquetFile(folder / SENTENCES).iter_batches(SHARD, columns=["words"]):
        if len(batch):
            yield batch.column(0).to_pylist()


def score_sentences(
    pool: Path,
    out: Path,
    teacher: WordScorer,
    identity: object,
    store: Store,
    made_with: object,
    force: bool,
    executor: Executor | None = None,
) -> dict[str, float]:
    """Let a teacher score all shards, each a task of `executor`; one that is done is not scored again."""
    keys = [
        key_of({"teacher": identity, "words": key_of(sentences), "made_with": made_with})
        for sentences in shards_of(pool)
    ]
    todo = [(number, key) for number, key in enumerate(keys) if force or not store.intact(TASK_KIND, key)]
    if todo:
        if isinstance(teacher, Preparable):
            teacher.prepare(next(shards_of(pool)))
        work = partial(_score, pool, teacher, identity, store, made_with)
        (executor or ThisMachine()).run(work, todo, "tagging the pool", [SHARD] * len(todo))
    total, kept, entities = 0, dict.fromkeys(TOLD, 0), 0
    for number, (key, sentences) in enumerate(zip(keys, shards_of(pool), strict=True)):
        made = store.folder(TASK_KIND, key) / "proba.npy"
        link_or_copy(made, out / f"proba-{number:05d}.npy")
        guesses = _split(np.load(made, allow_pickle=False), sentences)
        lowest = np.array([confidence_of(guess).min(initial=1) for guess in guesses])
        for limit in TOLD:
            kept[limit] += int((lowest >= limit).sum())
        entities += sum(int((guess.argmax(axis=1) % 2 == 1).sum()) for guess in guesses)
        total += len(sentences)
    figures = {"sentences": float(total), "entities": float(entities)}
    return figures | {f"kept_at_{limit}": count / max(total, 1) for limit, count in kept.items()}


def _score(
    pool: Path, teacher: WordScorer, identity: object, store: Store, made_with: object, shard: tuple[int, str]
) -> None:
    """Score a shard, whose key is known, and keep what comes out."""
    number, key = shard
    sentences = pq.ParquetFile(pool / SENTENCES).read_row_group(number, columns=["words"]).column(0).to_pylist()
    about = {"teacher": identity, "words": key_of(sentences), "made_with": made_with}
    if key_of(about) != key:
        raise InputChanged(f"The shard {number} of the pool changed while it was read.", "Run again.", Place(pool))
    scores = [log_softmax(one) for one in teacher.emissions(sentences)]
    with store.write(TASK_KIND, key, about) as folder:
        np.save(folder / "proba.npy", np.exp(np.concatenate(scores)).astype(np.float16))


def _split(proba: Guesses, sentences: Sequence[Sequence[str]]) -> list[Guesses]:
    return np.split(proba, np.cumsum([len(words) for words in sentences])[:-1])


def confidence_of(guess: Guesses | Floats) -> Floats:
    """Give each word's scaled confidence: 0.5 if all tags are as likely, 1 if one is certain."""
    even = 1 / guess.shape[1]
    return np.asarray(0.5 + 0.5 * (guess.max(axis=1, initial=0).astype(np.float32) - even) / (1 - even))


def choose_sentences(
    pool: Path, scored: Path, settings: PseudoSettings, seed: int
) -> tuple[list[list[str]], list[Guesses]]:
    """Give the sentences that students learn from, with guesses; NaN where the teacher isn't sure enough.

    A sentence with an unsure word is left out, or kept with that word unknown, as the settings say.
    """
    chosen: list[list[str]] = []
    guesses: list[Guesses] = []
    for number, sentences in enumerate(shards_of(pool)):
        proba = np.load(scored / f"proba-{number:05d}.npy", allow_pickle=False)
        for words_of, guess in zip(sentences, _split(proba, sentences), strict=True):
            sure = confidence_of(guess) >= settings.confidence - 1e-3
            if settings.uncertain == "leave-out" and not sure.all():
                continue
            chosen.append(words_of)
            guesses.append(guess if sure.all() else np.where(sure[:, None], guess, np.float16(np.nan)))
    if settings.rows and len(chosen) > settings.rows:
        rows = np.sort(np.random.default_rng(seed).choice(len(chosen), settings.rows, replace=False))
        return [chosen[row] for row in rows], [guesses[row] for row in rows]
    return chosen, guesses


def first_sentences(pool: Path, count: int) -> list[list[str]]:
    """Give some sentences of a gathered pool."""
    return list(islice((words_of for shard in shards_of(pool) for words_of in shard), count))
