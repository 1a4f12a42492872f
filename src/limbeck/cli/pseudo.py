"""limbeck pseudo."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from limbeck.cli.options import AsJson, Overrides, ProjectFolder, Quiet
from limbeck.cli.output import console, print_json, print_table
from limbeck.cli.run import run_steps
from limbeck.config import Config, load_project
from limbeck.errors import BadSetting
from limbeck.pipeline import RESULTS, Pipeline

if TYPE_CHECKING:
    from limbeck.pseudo.why import Answer, Story

STRONGEST = 5
# Of more categories only these many are shown, those that say most.
MOST = 100


def command(
    project: ProjectFolder = Path(),
    overrides: Overrides = None,
    why: Annotated[int | None, typer.Option(help="Explain what became of this row of the pool, from 0.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let the teacher label the pool, and choose what students learn from."""
    pipeline = Pipeline(load_project(project, overrides or ()))
    config = pipeline.project.config
    if "pseudo" not in [step.name for step in pipeline.steps]:
        raise _not_wanted(config)
    if config.task == "ner":
        if why is not None:
            raise BadSetting("--why explains rows of texts with categories.", "Look at limbeck measure instead.")
        tag_pool(pipeline, as_json, quiet)
        return
    states = run_steps(pipeline, "select", False, quiet or as_json, False)
    folders = {s.step.name: pipeline.store.folder(f"{RESULTS}/{s.step.name}", s.key) for s in states}
    if why is not None:
        from limbeck.pseudo.why import explain

        story = explain(why, folders, config)
        if as_json:
            print_json(story.as_dict())
        else:
            print_story(story, config.data.titles)
    elif as_json:
        print_json(
            {"pool": _read(folders["pool"], "figures.json")["figures"], **_read(folders["select"], "selection.json")}
        )
    elif not quiet:
        print_selection(folders, config.data.titles)


def tag_pool(pipeline: Pipeline, as_json: bool, quiet: bool) -> None:
    """Let the teacher tag the pool, and say how sure it is."""
    states = {state.step.name: state for state in run_steps(pipeline, "pseudo", False, quiet or as_json, False)}
    pool, told = states["pool"].figures, states["pseudo"].figures
    if as_json:
        print_json({"pool": dict(pool), **told})
    elif not quiet:
        print_table("The pool", [{name: f"{count:,.0f}" for name, count in pool.items()}])
        kept = {name.removeprefix("kept_at_"): share for name, share in told.items() if name.startswith("kept_at_")}
        rows = [{"confidence": limit, "sentences": f"{share:.1%}"} for limit, share in kept.items()]
        print_table("Sentences all of whose words are as certain", rows)
        console().print(f"The teacher found {told['entities']:,.0f} entities.", markup=False)


def _not_wanted(config: Config) -> BadSetting:
    if config.teach.kind == "none":
        return BadSetting("This project has no teacher: teach.kind is 'none'.", "Set it, e.g. --set teach.kind=probe.")
    if not config.data.pool:
        return BadSetting(
            "This project has no pool: data.pool is empty.",
            """Name its files, e.g. --set 'data.pool=["pool.jsonl"]'.""",
        )
    return BadSetting(
        "This project has no students to label the pool for: students.kinds is empty.",
        """Set it, e.g. --set 'students.kinds=["bag"]'.""",
    )


def print_selection(folders: Mapping[str, Path], titles: Mapping[str, str]) -> None:
    """Say what was read, how much of it is certain, what each category gets, and which go together."""
    pool, told = _read(folders["pool"], "figures.json")["figures"], _read(folders["select"], "selection.json")
    sizes = told["sizes"]
    read = {name: int(pool[name]) for name in _READ}
    saved = f"Near copies: {pool['saved']:.1%} of the different texts needn't be scored." if pool["near"] else ""
    print_table("The pool", [{_READ[name]: count for name, count in read.items()}], saved)
    print_table(
        "Kept at each confidence",
        [{"confidence": f"{at['confidence']:.2f}", "texts": f"{at['share']:.1%}"} for at in told["kept_at"]],
        "If every category needed it; pseudo.confidence sets it.",
    )
    shown = told["categories"]
    if len(shown) > MOST:
        shown = sorted(shown, key=lambda category: -category["yes"])[:MOST]
    note = "" if shown is told["categories"] else f"The {MOST} most frequent of {len(told['categories']):,} categories."
    print_table("Guesses", [_row(category, titles) for category in shown], note)
    pairs = [
        {
            **pair,
            "category": titles.get(pair["category"], pair["category"]),
            "and": titles.get(pair["and"], pair["and"]),
        }
        for pair in told["strongest"][:STRONGEST]
    ]
    if pairs:
        print_table("Categories that go together", pairs, "Phi between the guesses about kept texts.")
    console().print(
        f"Students learn from {sizes['kept']:,} of {sizes['texts']:,} unlabelled texts and from "
        f"{sizes['labelled_rows']:,} labelled rows, with {sizes['filled']:,} guesses about what those don't say.",
        markup=False,
    )
    console().print(f"The selection is in {folders['select']}", markup=False)


_READ = {
    "rows_read": "rows",
    "texts": "different texts",
    "repeated": "repeated",
    "near": "near copies",
    "empty": "empty",
    "judges": "also in dev or test",
    "labelled": "texts already labelled",
}


def _row(found: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, object]:
    known = found["certain"] + found["uncertain"]
    return {
        "category": titles.get(found["category"], found["category"]),
        "threshold": found["threshold"],
        "mean probability": found["mean_probability"],
        "certain": f"{found['certain'] / known:.1%}" if known else None,
        "yes, all texts": found["yes"],
        "yes, kept texts": found["yes_kept"],
    }


def print_story(story: Story, titles: Mapping[str, str]) -> None:
    """Print what became of a row."""
    if story.text is not None:
        console().print(f"Row {story.row:,}: {story.text[:500]}", markup=False)
    if story.answers:
        rows = [
            {
                "category": titles.get(answer.category, answer.category),
                "probability": answer.probability,
                "threshold": answer.threshold,
                "confidence": answer.confidence,
                "needed": answer.needed,
                "verdict": answer.verdict,
            }
            for answer in _telling(story.answers)
        ]
        more = len(story.answers) - len(rows)
        print_table("Guesses", rows, f"And {more:,} categories that are surely not there." if more else "")
    console().print(story.sentence, markup=False)


def _telling(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Of very many answers, give those that aren't no, and of the others the least certain ones."""
    if len(answers) <= MOST:
        return answers
    some = sorted(answers, key=lambda answer: (answer.verdict == "no", answer.confidence or 0.0))[:MOST]
    return [answer for answer in answers if answer in some]


def _read(folder: Path, name: str) -> Any:  # noqa: ANN401 - plain values
    return json.loads((folder / name).read_text(encoding="utf-8"))
