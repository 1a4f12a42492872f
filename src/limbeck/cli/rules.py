"""limbeck rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.config import Project, load_project
from limbeck.errors import BadSetting, FileEmpty, FileMissing, Place, ProjectExists, nearest
from limbeck.progress import progress, set_quiet

if TYPE_CHECKING:
    from limbeck.data.dataset import Dataset
    from limbeck.rules import Rules, Survey
    from limbeck.rules.figures import CategoryFigures, Example

STRONGEST = 10


def command(
    rules: Annotated[
        Path | None, typer.Argument(help="The file of rules; by default the project's annotate.rules.")
    ] = None,
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    category: Annotated[list[str] | None, typer.Option(help="Show this category alone. May be repeated.")] = None,
    examples: Annotated[int, typer.Option(min=0, max=1000, help="Texts to show for each category.")] = 5,
    weak: Annotated[
        Path | None, typer.Option(help="Write what matches to this jsonl file, as weak labels with their weights.")
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Write an example of a rules.toml, if there is none.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what regular expressions find in the pool, where they clash, and how often they are right."""
    from limbeck.rules import FILE_NAME, load_rules, survey

    opened = load_project(project, overrides or ())
    file = rules or opened.path(opened.config.annotate.rules or FILE_NAME)
    if init:
        _write_example(file)
        if not quiet:
            console().print(f"Wrote {file}. Put your categories in it, then: limbeck rules -p {project}", markup=False)
        return
    if weak is not None and weak.exists():
        raise ProjectExists(f"{weak} is already there.", "Name another file, or move it away first.", Place(weak))
    set_quiet(quiet or as_json)
    told = load_rules(file)
    shown = _checked(category or told.names, told, file)
    texts = progress(_pool(opened), "reading the pool")
    found = survey(told, texts, _labels(opened), examples, opened.config.seed)
    rows = _write_weak(weak, told.only(shown), opened) if weak is not None else None
    if as_json:
        print_json(found.about(shown).as_dict() | ({} if rows is None else {"weak_rows": rows}))
    elif not quiet:
        names = {one.category: opened.config.data.titles.get(one.category, one.title) for one in found.categories}
        print_survey(found.about(shown), names, in_full=bool(category))
        if rows is not None:
            console().print(f"Wrote {rows:,} weak labels to {weak}; nothing reads them unasked.", markup=False)


def _write_example(file: Path) -> None:
    from limbeck.rules import TEMPLATE
    from limbeck.store import write_atomically

    if file.exists():
        raise ProjectExists(f"{file} is already there.", "Edit it, or name another file.", Place(file))
    write_atomically(file, TEMPLATE)


def _checked(names: Sequence[str], rules: Rules, file: Path) -> Sequence[str]:
    for name in names:
        if name not in rules.names:
            raise BadSetting(f"There is no rule for the category '{name}'.", nearest(name, rules.names), Place(file))
    return names


def _pool(project: Project) -> Iterator[str]:
    """Give the texts of the pool, cleaned."""
    from limbeck.data.pool import stream_pool
    from limbeck.steps.pool import pool_files
    from limbeck.text import Cleaner

    config = project.config
    if not config.data.pool:
        raise BadSetting(
            "This project has no pool: data.pool is empty.",
            """Name its files, e.g. --set 'data.pool=["pool.jsonl"]'.""",
        )
    rows = stream_pool(pool_files(project), config.data, Cleaner(tuple(config.text.clean)))
    return (row.text for row in rows)


def _labels(project: Project) -> Dataset | None:
    """Read the training labels, if there are any; dev and test judge models, and nobody writes rules by them."""
    from limbeck.data.merge import read_dataset
    from limbeck.text import Cleaner

    config = project.config
    if config.task == "ner":
        return None
    paths = [project.path(name) for name in config.data.labels]
    try:
        return read_dataset(paths, config.task, config.data, Cleaner(tuple(config.text.clean))).dataset
    except (FileMissing, FileEmpty):
        return None


def _write_weak(target: Path, rules: Rules, project: Project) -> int:
    from limbeck.rules import weak_rows

    part = target.with_name(target.name + ".part")
    rows = weak_rows(rules, progress(_pool(project), "writing weak labels"), project.config.data.text_column)
    count = 0
    with part.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    part.replace(target)
    return count


def print_survey(found: Survey, names: Mapping[str, str], in_full: bool) -> None:
    """Print the tables, with categories as `names` has them; `in_full` also shows texts that clash with rules."""
    share = found.found / found.texts if found.texts else 0.0
    console().print(f"Rules match {found.found:,} of {found.texts:,} texts of the pool ({share:.1%}).", markup=False)
    judged = any(one.quality for one in found.categories)
    note = "No labels are known for these categories, so nothing says how often rules are right."
    if judged:
        note = f"By {found.labelled:,} training rows, whose mix may differ from the pool's; unknown labels don't count."
    print_table("Rules", [_rule_row(one, names, judged) for one in found.categories], note)
    print_table(
        "Expressions",
        [row for one in found.categories for row in _expression_rows(one, names, judged)],
        "Alone: texts that no other expression of the category finds. - marks what excludes.",
    )
    _print_pairs(found, names)
    if found.conflicts:
        rows = [{"category": names[c.category], "expression": c.expression, "": c.told} for c in found.conflicts]
        print_table("To look at", rows)
    _print_texts("Examples", found, names, lambda one: one.examples)
    if in_full:
        _print_texts("Kept out by exclude", found, names, lambda one: one.forbidden)
        _print_texts("Matches, but labelled no", found, names, lambda one: one.quality.wrong if one.quality else ())
        _print_texts("Labelled yes, but no match", found, names, lambda one: one.quality.missed if one.quality else ())
    else:
        console().print("--category NAME also shows what was kept out, and where labels disagree.", markup=False)


def _rule_row(one: CategoryFigures, names: Mapping[str, str], judged: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "category": names[one.category],
        "texts": one.found,
        "share": f"{one.share:.2%}",
        "kept out": one.excluded,
    }
    if judged:
        told = one.quality
        row |= {
            "labels": told.known if told else None,
            "yes": told.yes if told else None,
            "precision": told.precision if told else None,
            "recall": told.recall if told else None,
            "F1": told.f1 if told else None,
        }
    return row


def _expression_rows(one: CategoryFigures, names: Mapping[str, str], judged: bool) -> Iterator[dict[str, object]]:
    for told in one.expressions:
        row: dict[str, object] = {
            "category": names[one.category],
            "expression": told.expression if told.kind == "include" else f"- {told.expression}",
            "texts": told.found,
            "share": f"{told.share:.2%}",
            "alone": told.only,
            "kept out": told.excluded,
        }
        yield row | {"labels": told.known or None, "precision": told.precision} if judged else row


def _print_pairs(found: Survey, names: Mapping[str, str]) -> None:
    rows: list[dict[str, object]] = [
        {
            "category": names[pair.category],
            "and": names[pair.other],
            "texts of both": pair.both,
            "of the first": f"{pair.share:.1%}",
            "of the second": f"{pair.share_of_other:.1%}",
            "phi": pair.phi,
        }
        for pair in found.overlaps[:STRONGEST]
    ]
    if rows:
        more = len(found.overlaps) - len(rows)
        print_table("Texts that match two categories", rows, f"{more:,} more pairs; --json has all." if more else "")


def _print_texts(
    title: str,
    found: Survey,
    names: Mapping[str, str],
    texts: Callable[[CategoryFigures], Iterable[Example]],
) -> None:
    rows = [
        {"category": names[one.category], "expression": shown.expression, "text": shown.marked}
        for one in found.categories
        for shown in texts(one)
    ]
    if rows:
        print_table(title, rows)
