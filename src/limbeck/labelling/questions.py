"""Which question a project's annotators are asked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from limbeck.annotate.asked import Mode, Question
from limbeck.config import Project
from limbeck.data.prepare import read_corpus
from limbeck.data.tagged import read_tagged
from limbeck.errors import BadSetting, nearest


@dataclass(frozen=True)
class Asked:
    """A question, and how it is shown: titles of its categories, in their order."""

    question: Question
    titles: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the question is called in files and on the page."""
        return self.titles[0] if self.question.mode == "binary" else "all"


def question_of(project: Project, category: str = "", new: bool = False) -> Asked:
    """Ask about one category, yes or no, or about all that the project knows; `new` allows one that it doesn't know."""
    config = project.config
    if config.task == "ner":
        if category:
            raise BadSetting("Entities are asked about all at once.", "Leave --category out.")
        types = tuple(config.data.categories) or read_tagged(project).types
        return _asked(project, "spans", types)
    known = tuple(config.data.categories) or read_corpus(project).train.dataset.names
    if config.task == "multiclass":
        if category:
            raise BadSetting("Every text has one class, so all are asked about at once.", "Leave --category out.")
        return _asked(project, "class", known)
    if not category:
        return _asked(project, "labels", known)
    by_title = {title: name for name, title in config.data.titles.items()}
    name = category if category in known else by_title.get(category, category)
    if name not in known and not new and name not in _ruled(project):
        raise BadSetting(
            f"There is no category '{category}'.",
            f"{nearest(category, known)} A new one is born with --new, or with expressions in {config.annotate.rules}.",
        )
    return _asked(project, "binary", (name,))


def _asked(project: Project, mode: Mode, names: tuple[str, ...]) -> Asked:
    titles = project.config.data.titles
    return Asked(Question(mode, names), tuple(titles.get(name, name) for name in names))


def _ruled(project: Project) -> tuple[str, ...]:
    file = project.path(project.config.annotate.rules)
    return tuple(tomllib.loads(file.read_text(encoding="utf-8"))) if Path(file).is_file() else ()
