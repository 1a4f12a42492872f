"""Inspecting a whole project: its files, with lengths in the encoder's own tokens where the encoder is found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbeck.config import Project
from limbeck.data.inspect import CountTokens, Row, Table, count_word_tokens, inspect_corpus, spread
from limbeck.data.pool import stream_pool
from limbeck.data.prepare import read_corpus
from limbeck.data.sentences import count_types
from limbeck.data.tagged import read_tagged
from limbeck.errors import EncoderMissing
from limbeck.progress import progress
from limbeck.teach.encoders import find_encoder
from limbeck.text import Cleaner


def inspect_project(project: Project) -> list[Table]:
    """Make the tables of `limbeck inspect`."""
    config = project.config
    if config.task == "ner":
        return _inspect_tagged(project)
    cleaner = Cleaner(tuple(config.text.clean))
    named = [project.path(p) for p in config.data.pool]
    there = [path for path in named if path.exists()]
    pool = progress(stream_pool(there, config.data, cleaner), "reading the pool")
    count_tokens, unit = _token_counter(project)
    tables = inspect_corpus(read_corpus(project), pool, count_tokens, unit, config.data.near_duplicates)
    missing: list[Row] = [{"pool file": str(path)} for path in named if not path.exists()]
    if missing:
        tables.append(Table("Missing", missing, "Add it, or set data.pool = [] in limbeck.toml."))
    return tables


def _token_counter(project: Project) -> tuple[CountTokens, str]:
    try:
        file = find_encoder(project.config.encoder.name, project.root).tokenizer
    except EncoderMissing:
        file = None
    if file is None:
        return count_word_tokens, "words"
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(texts: Sequence[str]) -> list[int]:
        return [len(encoding.ids) for encoding in tokenizer.encode_batch_fast(list(texts))]

    return count, f"sub-word tokens of {project.config.encoder.name}"


def _inspect_tagged(project: Project) -> list[Table]:
    corpus = read_tagged(project)
    parts = {"train": corpus.train, "dev": corpus.dev, "test": corpus.test}
    counts = {name: count_types(sentences) for name, sentences in parts.items()}
    lengths = {name: np.array([len(s.tokens) for s in sentences]) for name, sentences in parts.items() if sentences}
    return [
        Table("Entities", [{"type": kind, **{name: c[kind] for name, c in counts.items()}} for kind in corpus.types]),
        Table(
            "Sentences, length in tokens",
            [{"set": name, "sentences": len(n), **spread(n)} for name, n in lengths.items()],
        ),
    ]
