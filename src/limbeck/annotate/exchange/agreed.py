"""Many judgements of a text made one: the majority decides, and where annotators are divided nothing is said."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from limbeck.annotate.exchange.labelled import LabelledText, Task
from limbeck.annotate.exchange.writing import Written
from limbeck.errors import BadLabel, UnknownLabel, nearest
from limbeck.scorer import Span
from limbeck.text.words import words

SKIPPED = "not labelled, but skipped or not known"
OTHER_TASK = "labels of another task"
DIVIDED = "annotators are divided"
NO_WORD = "texts without a word"
CLASH = "entities that share a word, or hold none"


@dataclass(frozen=True)
class AgreedText:
    """What holds of a text: cells that are known, and whether these are all; or its class; or its entities."""

    text: str
    source: str
    known: Mapping[str, bool] = field(default_factory=dict)
    is_complete: bool = False
    one_class: str | None = None
    spans: tuple[Span, ...] = ()


def fits(label: LabelledText, task: Task) -> bool:
    """Say whether a label's value is one of the task."""
    if task == "ner":
        return label.spans is not None
    return bool(label.known) or label.complete is not None


def check_names(label: LabelledText, categories: Sequence[str]) -> None:
    """Raise if a judgement names what is none of the `categories`; without any, all names are good."""
    for name in names_in(label) if categories else ():
        if name not in categories:
            raise UnknownLabel(
                f"The category '{name:.80}' of the text '{label.text[:40]}' is not known.", nearest(name, categories)
            )


def labels_for(labels: Iterable[LabelledText], task: Task, written: Written) -> Iterator[LabelledText]:
    """Pass on the labels of a task, and note what else there was."""
    for label in labels:
        if label.verdict != "label":
            written.note(SKIPPED, label.text)
        elif fits(label, task):
            yield label
        else:
            written.note(OTHER_TASK, label.text)


def agreed_texts(
    labels: Iterable[LabelledText], task: Task, categories: Sequence[str], written: Written
) -> Iterator[AgreedText]:
    """Give each text once, in the order of their first labels; without `categories`, all that occur are meant."""
    texts: dict[str, list[LabelledText]] = {}
    for label in labels_for(labels, task, written):
        check_names(label, categories)
        texts.setdefault(label.text, []).append(label)
    names = tuple(categories) or tuple(
        sorted({n for said in texts.values() for label in said for n in names_in(label)})
    )
    for said in texts.values():
        found = _DECIDED[task](said, names, written)
        if found is not None:
            yield found


def names_in(label: LabelledText) -> list[str]:
    """Give the categories, or types of entities, that a judgement names."""
    return [*label.known, *sorted(label.complete or ()), *(span.type for span in label.spans or ())]


def word_spans(spans: Sequence[Span], offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]] | None:
    """Give entities as (first word, word after the last, type), widened to whole words; None if they clash then."""
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    found: list[tuple[int, int, str]] = []
    for span in sorted(spans, key=lambda span: span.start):
        # Words that end after its start and start before its end.
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if first >= last or (found and first < found[-1][1]):
            return None
        found.append((first, last, span.type))
    return found


def _cells(said: Sequence[LabelledText], names: Sequence[str], written: Written) -> AgreedText | None:
    votes: dict[str, dict[Hashable, bool]] = {}
    for number, label in enumerate(said):
        of_list = {} if label.complete is None else {name: name in label.complete for name in names}
        for name, yes in {**of_list, **label.known}.items():
            votes.setdefault(name, {})[_voter(label, number)] = yes
    known = {}
    for name in names:
        decided = _majority(votes.get(name, {}))
        if decided is not None:
            known[name] = decided
        elif name in votes:
            written.note(DIVIDED, said[0].text, f"'{name}'")
    if not known:
        return None
    listed = any(label.complete is not None for label in said) and len(known) == len(names)
    return AgreedText(said[0].text, _source(said), known=known, is_complete=listed)


def _class(said: Sequence[LabelledText], names: Sequence[str], written: Written) -> AgreedText | None:
    votes: dict[Hashable, str] = {}
    for number, label in enumerate(said):
        chosen = label.complete if label.complete is not None else {name for name, yes in label.known.items() if yes}
        if len(chosen) > 1:
            raise BadLabel(
                f"The text '{label.text[:40]}' has {len(chosen)} classes: {', '.join(sorted(chosen))}.",
                "Keep one of them, or write it as a multilabel project.",
            )
        for name in chosen:
            votes[_voter(label, number)] = name
    if not votes:
        written.note("texts without a class", said[0].text)
        return None
    (name, most), *others = Counter(votes.values()).most_common(2)
    if others and others[0][1] == most:
        written.note(DIVIDED, said[0].text)
        return None
    return AgreedText(said[0].text, _source(said), one_class=name)


def _entities(said: Sequence[LabelledText], names: Sequence[str], written: Written) -> AgreedText | None:
    text = said[0].text
    votes = {_voter(label, number): label.spans or () for number, label in enumerate(said)}
    counts = Counter((span.start, span.end, span.type) for spans in votes.values() for span in spans)
    # Such a text is left out whole: without the entity it would say that there is none.
    if any(2 * count == len(votes) for count in counts.values()):
        written.note(DIVIDED, text)
        return None
    spans = tuple(Span(*one) for one in sorted(counts) if 2 * counts[one] > len(votes))
    offsets = words(text)
    if not offsets:
        written.note(NO_WORD, text)
        return None
    if word_spans(spans, offsets) is None:
        written.note(CLASH, text)
        return None
    return AgreedText(text, _source(said), spans=spans)


_DECIDED = {"multilabel": _cells, "multiclass": _class, "ner": _entities}


def _voter(label: LabelledText, number: int) -> Hashable:
    # Those who are not named are not taken for one person; of one person, the last word counts.
    return label.annotator or number


def _majority(votes: Mapping[Hashable, bool]) -> bool | None:
    yes = sum(votes.values())
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


def _source(said: Sequence[LabelledText]) -> str:
    return next((label.source for label in said if label.source), "")
