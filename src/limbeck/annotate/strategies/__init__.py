"""Query strategies: which texts of a pool a person should label next."""

from limbeck.annotate.strategies.chooser import Chooser, Pick
from limbeck.annotate.strategies.mix import Mix, parse_mix
from limbeck.annotate.strategies.pool import Chunk, Known, TaggedChunk
from limbeck.annotate.strategies.registry import DEFAULT, DEFAULT_NER, NER_STRATEGIES, STRATEGIES
from limbeck.annotate.strategies.strategy import Strategy

__all__ = [
    "DEFAULT",
    "DEFAULT_NER",
    "NER_STRATEGIES",
    "STRATEGIES",
    "Chooser",
    "Chunk",
    "Known",
    "Mix",
    "Pick",
    "Strategy",
    "TaggedChunk",
    "parse_mix",
]
