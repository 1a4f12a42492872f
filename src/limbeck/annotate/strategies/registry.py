"""The strategies by name, and which are asked for by default."""

from __future__ import annotations

from typing import Final

from limbeck.annotate.strategies.content import Diversity, Random, UnderRepresented
from limbeck.annotate.strategies.entities import LeastConfidentSentence, UncertainSpan
from limbeck.annotate.strategies.pool import Chunk, TaggedChunk
from limbeck.annotate.strategies.positives import FalsePositives, LikelyPositives
from limbeck.annotate.strategies.strategy import Strategy
from limbeck.annotate.strategies.uncertainty import Disagreement, Entropy, LeastConfident, SmallestMargin

_OF_TEXTS: tuple[type[Strategy[Chunk]], ...] = (
    LeastConfident,
    Entropy,
    SmallestMargin,
    Disagreement,
    Diversity,
    UnderRepresented,
    FalsePositives,
    LikelyPositives,
    Random,
)
_OF_SENTENCES: tuple[type[Strategy[TaggedChunk]], ...] = (
    LeastConfidentSentence,
    UncertainSpan,
    Diversity,
    UnderRepresented,
    Random,
)

STRATEGIES: Final[dict[str, type[Strategy[Chunk]]]] = {kind.name: kind for kind in _OF_TEXTS}
NER_STRATEGIES: Final[dict[str, type[Strategy[TaggedChunk]]]] = {kind.name: kind for kind in _OF_SENTENCES}
# A tenth at random costs next to nothing (docs/RESULTS.md), and shows natural rates and what models are blind to.
DEFAULT: Final[dict[str, float]] = {"confidence": 0.9, "random": 0.1}
DEFAULT_NER: Final[dict[str, float]] = {"sentence": 0.9, "random": 0.1}
