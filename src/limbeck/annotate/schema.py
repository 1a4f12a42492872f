"""The tables of the store: one schema for what the server sets aside and for what people annotate.

Times are seconds since 1970. A category is "" where an entry is about all of them at once.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# Raised by one whenever a store of the version before can't be used as it is.
VERSION = 1

metadata = MetaData()
# SQLite numbers rows by itself only if their type is spelled INTEGER.
_Row = BigInteger().with_variant(Integer, "sqlite")
_Plain = JSON(none_as_null=True)


def _about(text_dies: str) -> Column[int]:
    return Column("text_id", _Row, ForeignKey("texts.id", ondelete=text_dies), nullable=False)


def _category() -> Column[str]:
    return Column("category", String, nullable=False, server_default="")


# A single row; a database without this table is no store.
limbeck_store = Table(
    "limbeck_store",
    metadata,
    Column("one", Integer, CheckConstraint("one = 1"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("made", Double, nullable=False),
)

# Each text once a source, with the newest guess of a model about it.
texts = Table(
    "texts",
    metadata,
    Column("id", _Row, primary_key=True),
    Column("public_id", String, nullable=False, unique=True),
    Column("source", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", String),
    Column("model", String),
    Column("version", String),
    Column("labels", _Plain, nullable=False),
    Column("probabilities", _Plain),
    Column("entities", _Plain),
    Column("confidence", Double),
    Column("seen", Integer, nullable=False),
    Column("added", Double, nullable=False),
    Column("last_seen", Double, nullable=False),
    # When retention ends; never, if empty.
    Column("expires", Double),
    # How many people are to annotate it; more than one where their agreement is measured.
    Column("wanted", Integer, nullable=False, server_default="1"),
    # What an imported file said beside the text, for the way back.
    Column("extra", _Plain),
    UniqueConstraint("source", "digest"),
    Index("texts_by_confidence", "confidence"),
    Index("texts_by_last_seen", "last_seen"),
    Index("texts_by_expires", "expires"),
)

# Why a text is here: the server's reasons, and the query strategies that ask for it, with their scores.
reasons = Table(
    "reasons",
    metadata,
    _about("CASCADE"),
    Column("reason", String, nullable=False),
    _category(),
    Column("score", Double),
    Column("added", Double, nullable=False),
    UniqueConstraint("text_id", "reason", "category"),
    Index("reasons_by_reason", "reason", "category", "text_id"),
)

# Whether the reply to a text helped. A voter is whatever tells one answer from another, "" if nothing does.
votes = Table(
    "votes",
    metadata,
    _about("CASCADE"),
    Column("voter", String, nullable=False, server_default=""),
    Column("helped", Boolean, nullable=False),
    Column("voted", Double, nullable=False),
    UniqueConstraint("text_id", "voter"),
)

# What an annotator said, and all that was so when it was said. Undone ones stay, so that undo is exact.
# A text can't go while one of these holds it: what people did is never deleted in passing.
judgements = Table(
    "judgements",
    metadata,
    Column("id", _Row, primary_key=True),
    _about("RESTRICT"),
    _category(),
    Column("annotator", String, nullable=False),
    # "person", or what else labelled: a rule, an import.
    Column("origin", String, nullable=False, server_default="person"),
    # "label", "skip" or "don't know"; only the first has a value: true or false, names of labels, or spans.
    Column("verdict", String, nullable=False),
    Column("value", _Plain),
    Column("strategy", String),
    Column("model", String),
    Column("version", String),
    Column("guess", _Plain),
    Column("guess_shown", Boolean),
    # How long it took, from showing the text to the answer.
    Column("seconds", Double),
    Column("given", Double, nullable=False),
    Column("undone", Double),
    CheckConstraint("verdict IN ('label', 'skip', 'don''t know')"),
    Index("judgements_by_text", "text_id"),
    Index("judgements_by_annotator", "annotator", "given"),
)
Index(
    "judgements_that_hold",
    judgements.c.text_id,
    judgements.c.category,
    judgements.c.annotator,
    unique=True,
    sqlite_where=judgements.c.undone.is_(None),
    postgresql_where=judgements.c.undone.is_(None),
)

# Who has a text on the screen, and until when. There are as many slots as `texts.wanted` says.
leases = Table(
    "leases",
    metadata,
    _about("CASCADE"),
    _category(),
    Column("slot", Integer, nullable=False, server_default="0"),
    Column("annotator", String, nullable=False),
    Column("until", Double, nullable=False),
    UniqueConstraint("text_id", "category", "slot"),
    UniqueConstraint("text_id", "category", "annotator"),
    Index("leases_by_until", "until"),
)
