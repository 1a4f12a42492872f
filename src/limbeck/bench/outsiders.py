"""Other tools' models, opened so that `limbeck compare` can ask them the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from limbeck.errors import EncoderMissing, ExtraMissing
from limbeck.scorer import Span

# How spaCy names the types of news; others are left out of a comparison with it.
SPACY_TYPES = {"PERSON": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC", "FAC": "LOC", "NORP": "MISC", "EVENT": "MISC"}
# The parts of its pipelines that entities need; grammar is not what is compared.
SPACY_PARTS = ("tok2vec", "transformer", "ner")


@dataclass(frozen=True)
class SpacyTagger:
    """A spaCy pipeline, by its package or folder, reduced to what finds entities; `names` turns its types into ours."""

    package: str
    names: dict[str, str]

    @property
    def name(self) -> str:
        """What it calls itself."""
        return f"{self._nlp.meta['lang']}_{self._nlp.meta['name']}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that are shared."""
        return tuple(sorted({name for own, name in self.names.items() if own in self._nlp.get_pipe("ner").labels}))

    @property
    def bytes(self) -> int:
        """What it takes on disk, all parts."""
        return sum(file.stat().st_size for file in self._nlp.path.rglob("*") if file.is_file())

    def tag(self, sentences: Sequence[str]) -> list[list[Span]]:
        """Give the entities of each text whose types are shared."""
        return [
            [Span(e.start_char, e.end_char, self.names[e.label_]) for e in doc.ents if e.label_ in self.names]
            for doc in self._nlp.pipe(sentences, batch_size=min(64, max(1, len(sentences))))
        ]

    @cached_property
    def _nlp(self) -> Any:  # noqa: ANN401 - another library's
        try:
            import spacy  # type: ignore[import-not-found]
        except ImportError:
            raise ExtraMissing("rivals", "Comparing with spaCy") from None
        try:
            found = spacy.load(self.package)
        except (OSError, AttributeError) as error:  # no such package, or one that is no pipeline
            told = str(error).splitlines()[0]
            raise EncoderMissing(f"spaCy can't load {self.package}: {told}", "Install its package.") from None
        if "ner" not in found.pipe_names:
            raise EncoderMissing(f"spaCy's {self.package} finds no entities.", "Name a pipeline with the part ner.")
        found.select_pipes(enable=[name for name in found.pipe_names if name in SPACY_PARTS])
        return found
