"""A round: learn from all labels so far, say how good that is, and choose what to ask next.

It is a process of its own: python -m limbeck.labelling.rounds '{"project": …, "question": …, "overrides": […]}'
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from limbeck.annotate.asked import Question, Wanted
from limbeck.annotate.desk import Desk
from limbeck.annotate.store import open_store
from limbeck.annotate.strategies import (
    DEFAULT,
    DEFAULT_NER,
    NER_STRATEGIES,
    STRATEGIES,
    Chooser,
    parse_mix,
)
from limbeck.annotate.texts import NewText
from limbeck.config import Project, load_project
from limbeck.errors import LimbeckError
from limbeck.labelling.candidates import answered, of_pool, of_server, without
from limbeck.labelling.learnt import LearntTexts
from limbeck.labelling.questions import Asked, question_of
from limbeck.labelling.run import FOLDER, folder_of, store_address
from limbeck.labelling.status import Round, read_rounds
from limbeck.store import Store
from limbeck.text import normalise

CHUNK = 1024
# Another category's round may be under way; a round takes seconds, or minutes on a busy machine.
PATIENCE_SECONDS = 600.0
RULES, REVIEW = "rules", "review"
# Without a model, what differs most from each other is asked first.
NO_MODEL = {"diversity": 1.0}
# Texts that rules find for each that is asked about, so that those that say the same can be left out.
SPREAD = 5


def run_round(project: Project, asked: Asked, desk: Desk) -> Round:
    """Learn, judge, choose and queue; only one process at a time does so for a project."""
    began = time.time()
    folder = folder_of(project, asked)
    store = Store(project.workdir / FOLDER)
    with store.lock(PATIENCE_SECONDS):
        store.sweep()
        learnt: Any
        if project.config.task == "ner":
            from limbeck.labelling.learnt_tags import LearntTags

            learnt = LearntTags(project, store)
        else:
            learnt = LearntTexts(project, asked.question.categories, store)
        estimate = learnt.estimate()
        number = len(read_rounds(folder / "rounds.jsonl")) + 1
        wanted = _choose(project, asked, desk, learnt, number)
        names = {*STRATEGIES, *NER_STRATEGIES, RULES}
        desk.queue(wanted, instead_of=sorted(names))
        told = Round(learnt.labels, asked=len(wanted), seconds=round(time.time() - began, 2), when=began)
        if estimate is not None:
            told = Round(**{**asdict(told), **asdict(estimate)})
        _append(folder / "rounds.jsonl", json.dumps(asdict(told)))
    return told


def _choose(project: Project, asked: Asked, desk: Desk, learnt: Any, number: int) -> list[Wanted]:  # noqa: ANN401
    settings, seed = project.config.annotate, project.config.seed + number
    known = {*map(normalise, learnt.seen), *answered(desk)}
    kept, mine = of_server(desk), project.workdir / FOLDER
    aside = without(kept, known)
    pool = without(of_pool(project, mine), {*known, *map(normalise, aside)})
    share = min(len(aside), round(settings.queue_share * settings.batch)) if pool else settings.batch
    picked = [
        [*_picks(project, learnt, pool, settings.batch - share, seed)],
        [*_picks(project, learnt, aside, share, seed)],
        _ruled(project, asked, pool, learnt, settings.batch // 2, seed),
    ]
    together = _in_turns(picked)[: settings.batch]
    guesses = learnt.guesses([text for text, _, _ in together])
    rng = np.random.default_rng(seed)
    twice = rng.random(len(together)) < settings.overlap
    return [
        Wanted(
            NewText(text, source, strategy, model="probe" if guess else None, version=str(number), **guess),
            float(len(together) - place),
            2 if both else 1,
        )
        for place, ((text, strategy, source), guess, both) in enumerate(zip(together, guesses, twice, strict=True))
    ]


Picked = tuple[str, str, str]


def _picks(project: Project, learnt: Any, texts: Sequence[str], count: int, seed: int) -> Iterable[Picked]:  # noqa: ANN401
    """Let the strategies choose among texts, and say which of them wants each."""
    if not texts or count < 1:
        return
    ner = project.config.task == "ner"
    strategies: Any = NER_STRATEGIES if ner else STRATEGIES
    told = project.config.annotate.strategy
    mix = parse_mix(told, strategies) if told else (DEFAULT_NER if ner else DEFAULT)
    shares, known = mix if learnt.taught else NO_MODEL, learnt.known
    chooser: Chooser[Any] = Chooser(shares, known, count, seed, strategies)
    for start in range(0, len(texts), CHUNK):
        some = texts[start : start + CHUNK]
        chooser.see(learnt.look(np.arange(start, start + len(some)), some))
    for pick in chooser.choose():
        yield texts[pick.row], pick.strategy, "pool"


def _ruled(
    project: Project,
    asked: Asked,
    pool: Sequence[str],
    learnt: Any,  # noqa: ANN401 - of either kind
    count: int,
    seed: int,
) -> list[Picked]:
    """Give texts that a category's expressions find, until there is a model."""
    file = project.path(project.config.annotate.rules)
    if learnt.taught or asked.question.mode != "binary" or not Path(file).is_file():
        return []
    from limbeck.rules import candidates, load_rules

    rules = load_rules(Path(file))
    if asked.question.category not in rules.names:
        return []
    found = [one.text for one in candidates(rules, asked.question.category, pool, SPREAD * count, seed)]
    return [(text, RULES, source) for text, _, source in _picks(project, learnt, found, count, seed)]


def _in_turns(lists: Sequence[Sequence[Picked]]) -> list[Picked]:
    """Put lists together so that none comes last, each text once."""
    found: dict[str, Picked] = {}
    for row in zip_longest(*lists):
        for one in row:
            if one is not None:
                found.setdefault(one[0], one)
    return list(found.values())


def _append(file: Path, line: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(line + "\n")
        opened.flush()
        os.fsync(opened.fileno())


def main() -> int:
    """Run the round that the command line describes."""
    told = json.loads(sys.argv[1])
    question = Question(told["question"]["mode"], tuple(told["question"]["categories"]))
    try:
        project = load_project(Path(told["project"]), told["overrides"])
        asked = question_of(project, question.category, new=True)
        with open_store(store_address(project)) as store:
            done = run_round(project, asked, Desk(store, asked.question, 60 * project.config.annotate.lease_minutes))
        print(json.dumps(asdict(done)))
    except LimbeckError as error:
        print(f"{error.code}: {error.message} {error.fix or ''}".strip())
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
