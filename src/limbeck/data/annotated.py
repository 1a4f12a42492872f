"""What annotators said, as a file like those that the user labelled: readable, and with a hash that steps can keep."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from limbeck.config import DataSettings, Project, Task
from limbeck.store import write_atomically


def annotated_file(project: Project) -> Path | None:
    """Bring the project's file of annotators' labels up to date, and give it; None if there are no labels.

    Where annotators disagree, the majority holds, and nothing where they tie.
    """
    where = project.config.annotate.store
    if not where or ("://" not in where and not project.path(where).is_file()):
        return None
    from limbeck.annotate.judged import agreed
    from limbeck.annotate.store import open_store

    with open_store(where if "://" in where else project.path(where), create=False) as store:
        said = agreed(store)
    lines = [json.dumps(row, ensure_ascii=False) for row in _rows(said, project.config.task, project.config.data)]
    if not lines:
        return None
    file = project.workdir / "annotated" / "labels.jsonl"
    content = "\n".join(lines) + "\n"
    if not file.is_file() or file.read_bytes() != content.encode():
        write_atomically(file, content)
    return file


def _rows(said: Mapping[tuple[str, str], Any], task: Task, settings: DataSettings) -> Iterator[dict[str, Any]]:
    """Give one row a text; answers to questions of another task are passed over."""
    known: dict[str, dict[str, int]] = {}
    for (text, category), value in said.items():
        if task == "ner":
            if isinstance(value, list):
                yield {"text": text, "spans": value}
        elif task == "multiclass":
            if isinstance(value, dict) and value["labels"]:
                yield {settings.text_column: text, settings.label_column: value["labels"][0]}
        elif isinstance(value, bool):
            known.setdefault(text, {})[category] = int(value)
        elif isinstance(value, dict):
            cells = known.setdefault(text, {})
            # A question about one category is answered with more care than a list.
            cells.update({name: int(name in value["labels"]) for name in value["asked"] if name not in cells})
    for text, cells in known.items():
        yield {settings.text_column: text, **cells}
