"""limbeck predict."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated

import typer

from limbeck.cli.options import Quiet
from limbeck.cli.output import print_table
from limbeck.config import parse_config
from limbeck.errors import BadSetting, BrokenEncoding, BrokenRow, ColumnMissing, Place, ProjectExists, nearest
from limbeck.progress import progress, set_quiet

LONGEST_LINE = 64_000_000


def command(
    bundle: Annotated[Path, typer.Argument(help="The bundle's folder.")],
    texts: Annotated[list[str] | None, typer.Argument(help="Texts; without any, lines of standard input.")] = None,
    source: Annotated[Path | None, typer.Option("--from", help="A csv, tsv, jsonl or parquet file of texts.")] = None,
    target: Annotated[Path | None, typer.Option("--to", help="Write answers to this file, one JSON a line.")] = None,
    column: Annotated[str, typer.Option(help="The file's column with the texts.")] = "text",
    threads: Annotated[int, typer.Option(min=1, help="Batches that run at a time.")] = 1,
    probabilities: Annotated[bool, typer.Option(help="Say how likely each category is.")] = True,
    backend: Annotated[
        str, typer.Option(help="local, or ray: the nodes of a cluster answer a file, --threads cores a task.")
    ] = "local",
    address: Annotated[str, typer.Option(help="The Ray cluster's address, as for scale.address.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON a line also for texts named here.")] = False,
    quiet: Quiet = False,
) -> None:
    """Say which categories texts have, or which entities, with a bundle that limbeck compress made."""
    from limbeck.runtime.load import load
    from limbeck.runtime.predictor import Predictor
    from limbeck.runtime.stream import AT_ONCE, answers_to, entities_in

    if target is not None and target.exists():
        raise ProjectExists(f"{target} is already there.", "Name another file, or move it away first.")
    set_quiet(quiet)
    if parse_config({"scale": {"backend": backend}}, Path("--backend")).scale.backend == "ray":
        _on_cluster(bundle, source, target, column, threads, probabilities, address)
        return
    model = load(bundle, threads)
    lines: Iterable[str] = texts or (texts_of_file(source, column) if source else _standard_input())
    at_once = 1 if not source and not texts and sys.stdin.isatty() else AT_ONCE
    if isinstance(model, Predictor):
        answers = answers_to(model, progress(lines, "texts"), at_once, probabilities)
    else:
        answers = entities_in(model, progress(lines, "texts"), at_once)
    if texts and not as_json and target is None and not isinstance(model, Predictor):
        for answer in answers:
            print_table(answer["text"], answer["entities"] or [{"entities": "none"}])
        return
    if texts and not as_json and target is None and isinstance(model, Predictor):
        titles = {label.name: label.title for label in model.manifest.labels}
        for answer in answers:
            rows = [
                {
                    "category": titles[name],
                    "probability": likely,
                    "threshold": float(model.thresholds[model.labels.index(name)]),
                    "": "yes" if name in answer["labels"] else "",
                }
                for name, likely in sorted(answer["probabilities"].items(), key=lambda item: -item[1])
            ]
            print_table(answer["text"], rows, "The end of the text was not read." if answer.get("truncated") else "")
        return
    with _opened(target) as out:
        for answer in answers:
            out.write(json.dumps(answer, ensure_ascii=False) + "\n")
            if at_once == 1:
                out.flush()


def _on_cluster(
    bundle: Path, source: Path | None, target: Path | None, column: str, threads: int, probabilities: bool, address: str
) -> None:
    from limbeck.runtime.bundle import read_bundle
    from limbeck.scale import RayCluster
    from limbeck.scale.answers import LIBRARIES, Answering, answer_file

    if source is None or target is None:
        raise BadSetting("A cluster answers files.", "Name one with --from, and where answers go with --to.")
    answering = Answering(read_bundle(bundle), threads, probabilities)
    cluster = RayCluster(address, threads, libraries=LIBRARIES)
    answer_file(answering, texts_of_file(source, column), target, cluster)


@contextlib.contextmanager
def _opened(target: Path | None) -> Iterator[IO[str]]:
    """Give the file, which appears under its name only when it is complete, or standard output."""
    if target is None:
        yield sys.stdout
        return
    part = target.with_name(target.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        yield file
    part.replace(target)


def texts_of_file(source: Path, column: str) -> Iterator[str]:
    """Read the texts of a file's column."""
    from limbeck.data.records import read_records

    for line, record in read_records(source, LONGEST_LINE):
        if column not in record:
            raise ColumnMissing(
                f"There is no column '{column}'.", f"{nearest(column, record)} Name it with --column.",
                Place(source, line),
            )  # fmt: skip
        value = record[column]
        if value is not None and not isinstance(value, str):
            raise BrokenRow(f"The text is {value!r:.60}, not a string.", "Write it as a string.", Place(source, line))
        yield value or ""


def _standard_input() -> Iterator[str]:
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        try:
            yield raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise BrokenEncoding(
                f"Byte {error.start + 1} of line {number} of standard input is not UTF-8.",
                "Convert it with iconv.",
            ) from None
