"""What a person wants to know about the data before training."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from limbeck.data.dataset import Dataset
from limbeck.data.near import count_near
from limbeck.data.pool import PoolRow
from limbeck.data.prepare import Corpus
from limbeck.text import count_words, normalise

LONG = 512
LANGUAGE_SAMPLE = 2_000
SHOWN = 20
# Texts of the pool among which near copies are looked for, and the share of them from which on thinning is advised.
NEAR_SAMPLE = 100_000
MANY_COPIES = 0.05
NEAR = 0.8

Row = dict[str, object]
CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True)
class Table:
    """A titled table of plain values; `note` says how to read it."""

    title: str
    rows: list[Row]
    note: str = ""

    def as_dict(self) -> dict[str, object]:
        """Give plain values for JSON."""
        return {"title": self.title, "note": self.note, "rows": self.rows}


def count_word_tokens(texts: Sequence[str]) -> list[int]:
    """Count words, for when no encoder's tokeniser is at hand."""
    return [count_words(text) for text in texts]


def inspect_corpus(
    corpus: Corpus,
    pool: Iterable[PoolRow] = (),
    count_tokens: CountTokens = count_word_tokens,
    unit: str = "words",
    near: float = 0.0,
) -> list[Table]:
    """Make all tables; `count_tokens` gives each text's length in `unit`. The pool is read once, as a stream.

    `near` is what data.near_duplicates says: how alike texts of the pool are that count as one, 0 if all count.
    """
    train = corpus.train.dataset
    lengths = np.array(count_tokens(train.texts))
    first: dict[str, None] = {}
    pool_rows, pool_overlap, pool_sources = _count_pool(_remembering(pool, first), corpus)
    tables = [
        _files(corpus, pool_rows),
        _categories(corpus),
        _tokens(train, lengths, unit),
        _known_for(train),
        _repeats(corpus, pool_overlap),
        _near_copies(list(first), near),
        _contradictions(corpus),
        _passed_over(corpus),
        _sources(corpus, pool_sources),
        _languages(train.texts),
        _suspicious(train, lengths, unit),
    ]
    return [table for table in tables if table.rows]


def _files(corpus: Corpus, pool_rows: int) -> Table:
    rows: list[Row] = []
    for name, part in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test)):
        if part:
            cells = part.dataset.labels
            rows.append(
                {
                    "set": name,
                    "rows read": part.rows_read,
                    "rows kept": len(part.dataset),
                    "empty texts": len(part.empty_texts),
                    "labels known": round(float(np.mean(~np.isnan(cells))), 4),
                    "no positive": int(((cells == 1).sum(axis=1) == 0).sum()),
                }
            )
    if pool_rows:
        rows.append({"set": "pool", "rows read": pool_rows})
    return Table("Sets", rows, "'labels known' is the share of (text, category) pairs that somebody labelled.")


def _categories(corpus: Corpus) -> Table:
    train = corpus.train.dataset
    rows = []
    for index, name in enumerate(train.names):
        row: Row = {"category": name, **_rates(train.labels[:, index])}
        for part, merged in (("dev", corpus.dev), ("test", corpus.test)):
            if merged:
                row |= {
                    f"{part} {key}": value
                    for key, value in _rates(merged.dataset.labels[:, index]).items()
                    if key != "known"
                }
        rows.append(row)
    return Table(
        "Categories", rows, "Curated training samples often hold more positives than the world; dev should not."
    )


def _rates(labels: np.ndarray) -> Row:
    known = int((~np.isnan(labels)).sum())
    positives = int((labels == 1).sum())
    return {"known": known, "positive": positives, "rate": round(positives / known, 3) if known else None}


def _tokens(train: Dataset, lengths: np.ndarray, unit: str) -> Table:
    rows = [
        {"category": name, **spread(lengths[train.known_for(name)])}
        for name in train.names
        if len(train.known_for(name))
    ]
    if train.complete:
        rows = []
    rows.append({"category": "all texts", **spread(lengths)})
    return Table(
        f"Length in {unit}", rows, "Texts beyond an encoder's limit (mostly 512 tokens) are cut or read in windows."
    )


def spread(lengths: np.ndarray) -> Row:
    """Describe how lengths are distributed."""
    return {
        "mean": round(float(lengths.mean()), 2),
        "deviation": round(float(lengths.std()), 2),
        "min": int(lengths.min()),
        "median": int(np.median(lengths)),
        "p95": int(np.percentile(lengths, 95)),
        "max": int(lengths.max()),
        f"over {LONG}": int((lengths > LONG).sum()),
    }


def _known_for(train: Dataset) -> Table:
    counts = Counter((~np.isnan(train.labels)).sum(axis=1).tolist())
    rows: list[Row] = [{"categories known": number, "texts": counts[number]} for number in sorted(counts)]
    return Table("How many categories a text is labelled for", rows)


def _repeats(corpus: Corpus, pool_overlap: Counter[str]) -> Table:
    keys = {
        name: Counter(normalise(text) for text in part.dataset.texts)
        for name, part in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test))
        if part
    }
    rows: list[Row] = [
        {
            "what": f"{name}: texts that differ only in case, punctuation or spaces",
            "texts": sum(n for n in counts.values() if n > 1),
        }
        for name, counts in keys.items()
    ]
    for near, far in (("train", "dev"), ("train", "test"), ("dev", "test")):
        if far in keys:
            rows.append(
                {
                    "what": f"in {near} and in {far} (left out of {near} when training)",
                    "texts": len(keys[near].keys() & keys[far].keys()),
                }
            )
    rows += [{"what": f"in the pool and in {name}", "texts": count} for name, count in pool_overlap.items()]
    return Table("Repeated texts", rows)


def _count_pool(pool: Iterable[PoolRow], corpus: Corpus) -> tuple[int, Counter[str], Counter[str]]:
    keys = {
        name: {normalise(text) for text in part.dataset.texts}
        for name, part in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test))
        if part
    }
    rows = 0
    overlap: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    for rows, row in enumerate(pool, 1):  # noqa: B007 - the last number is the count
        key = normalise(row.text)
        overlap.update(name for name, known in keys.items() if key in known)
        sources[row.source] += 1
    if rows:
        overlap.update(dict.fromkeys(keys, 0))
    return rows, overlap, sources


def _remembering(pool: Iterable[PoolRow], first: dict[str, None]) -> Iterator[PoolRow]:
    for row in pool:
        if len(first) < NEAR_SAMPLE:
            first[row.text] = None
        yield row


def _near_copies(texts: Sequence[str], near: float) -> Table:
    """Say how many of the pool's different texts are near copies of others, and what to do about many."""
    limit = near or NEAR
    count = count_near(texts, limit)
    rows: list[Row] = [
        {"different texts": len(texts), "near copies": count, "share": round(count / max(1, len(texts)), 4)}
    ]
    note = f"Texts of the pool that are at least {limit:g} alike to an earlier one"
    if len(texts) >= NEAR_SAMPLE:
        note += f", of its first {NEAR_SAMPLE:,} different ones"
    if near:
        note += "; one of each is scored (data.near_duplicates)"
    elif count >= MANY_COPIES * len(texts):
        note += f". They teach nothing new: set data.near_duplicates = {NEAR:g}, and one of each is scored"
    return Table("Near copies in the pool", rows if count else [], f"{note}.")


def _contradictions(corpus: Corpus) -> Table:
    found = [c for part in (corpus.train, corpus.dev, corpus.test) if part for c in part.conflicts]
    rows: list[Row] = [
        {
            "category": c.category,
            "text": c.text[:80],
            "yes": "; ".join(map(str, c.yes[:3])),
            "no": "; ".join(map(str, c.no[:3])),
        }
        for c in found[:SHOWN]
    ]
    return Table("Contradictions", rows, f"{len(found)} in all: the same text labelled yes and no.")


def _passed_over(corpus: Corpus) -> Table:
    parts = [part for part in (corpus.train, corpus.dev, corpus.test) if part]
    rows: list[Row] = [{"file": str(f), "columns": ", ".join(names)} for part in parts for f, names in part.passed_over]
    return Table("Columns that were not read", rows[:SHOWN], "List them in data.ignore_columns to silence this.")


def _sources(corpus: Corpus, pool: Counter[str]) -> Table:
    counts = {
        name: Counter(part.dataset.sources)
        for name, part in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test))
        if part and part.dataset.sources
    }
    if any(pool):
        counts["pool"] = pool
    names = sorted({source for counter in counts.values() for source in counter})
    rows: list[Row] = [
        {"source": name or "(none)", **{part: c[name] for part, c in counts.items()}} for name in names[:SHOWN]
    ]
    return Table("Sources", rows)


def detect_language(text: str) -> str | None:
    """Guess a text's language (ISO 639-1); None for texts too short to tell or without the library."""
    if len(text) < 25:
        return None
    try:
        from py3langid import classify
    except ImportError:
        return None
    return str(classify(text)[0])


def _languages(texts: Sequence[str]) -> Table:
    step = max(1, len(texts) // LANGUAGE_SAMPLE)
    sample = list(islice(texts, 0, None, step))
    found = Counter(language for text in sample if (language := detect_language(text)))
    total = sum(found.values())
    rows: list[Row] = [{"language": name, "texts": n, "share": round(n / total, 3)} for name, n in found.most_common(6)]
    return Table("Languages", rows, f"Guessed on {total} of {len(texts)} texts; short ones are passed over.")


def _suspicious(train: Dataset, lengths: np.ndarray, unit: str) -> Table:
    """List rows that a person should look at, the commonest reasons first, each with its place."""
    rows: list[Row] = []
    for index, text in enumerate(train.texts):
        reason = _suspicion(text, int(lengths[index]), unit)
        if reason:
            place = train.place(index)
            rows.append({"reason": reason, "where": str(place) if place else "", "text": text[:60]})
    counts = Counter(row["reason"] for row in rows)
    summary = ", ".join(f"{n} {reason}" for reason, n in counts.most_common())
    seen: Counter[object] = Counter()
    shown = [row for row in rows if seen.update([row["reason"]]) is None and seen[row["reason"]] <= 4]
    return Table("Suspicious rows", shown[:SHOWN], f"In all: {summary}.")


def _suspicion(text: str, length: int, unit: str) -> str:
    letters = sum(mark.isalpha() for mark in text)
    if letters == 0:
        return "without a letter"
    if len(text) < 3:
        return "under 3 characters"
    if length > LONG:
        return f"over {LONG} {unit}"
    if len(text) > 20 and letters < 0.4 * len(text):
        return "mostly not letters"
    if re.search(r"(.{1,10})\1{9,}", text[:2000]):
        return "one thing repeated"
    return ""
