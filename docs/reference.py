"""Pages of the site that are made from the program itself: every setting, every command, every error.

mkdocs calls `on_page_markdown` for each page. `<!-- every setting -->` and `<!-- every command -->` are filled in;
headings of codes on the page of errors get what the error tree says of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer.main

from limbeck import errors
from limbeck.cli import app
from limbeck.config import Config, toml_value
from limbeck.config.section import Section
from limbeck.config.settings import TASK_DEFAULTS
from limbeck.errors import LimbeckError

CODE = re.compile(r"^### (L\d{3})$", re.MULTILINE)
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill in what a page asks for."""
    for mark, make in (("<!-- every setting -->", settings), ("<!-- every command -->", commands)):
        if mark in markdown:
            markdown = markdown.replace(mark, make())
    return with_errors(markdown)


def settings() -> str:
    """Write every section and key with its default, what it takes and what it means."""
    config = Config()
    tables = {name: value for name in Config.model_fields if isinstance(value := getattr(config, name), Section)}
    whole = ["## The whole project", "", *_setting_rows("", config)]
    for name, table in tables.items():
        whole += ["", f"## {name}", "", " ".join((type(table).__doc__ or "").split()), "", *_setting_rows(name, table)]
    return "\n".join(whole)


def _setting_rows(section: str, table: Section) -> Iterator[str]:
    for name, about in type(table).model_fields.items():
        value = getattr(table, name)
        if isinstance(value, Section):
            continue
        key = f"{section}.{name}".lstrip(".")
        anchor = key.replace("_", "-").replace(".", "-")
        yield from (f"### `{key}` {{#{anchor}}}", "", f"Default: `{toml_value(value)}`{_otherwise(section, name)}.")
        if choices := ", ".join(f"`{toml_value(one)}`" for one in _choices(about.annotation)):
            yield f"Choices: {choices}."
        if bounds := ", ".join(dict.fromkeys(_bounds(about.metadata, about.annotation))):
            yield f"Takes: {bounds}."
        yield from ("", about.description or "", "")


def _otherwise(section: str, name: str) -> str:
    """Say which tasks have another default."""
    told = [(task, tables[section][name]) for task, tables in TASK_DEFAULTS.items() if name in tables.get(section, {})]
    return "".join(f"; for `{task}`: `{toml_value(value)}`" for task, value in told)


def _choices(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever a field is annotated with
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
        return
    for part in get_args(annotation):
        yield from _choices(part)


def _bounds(metadata: list[Any], annotation: Any) -> Iterator[str]:  # noqa: ANN401
    """Give the bounds of a number, which stand with the field, in its type, or in the types of what it holds."""
    for told in metadata:
        yield from (f"{word} {getattr(told, name)}" for name, word in _BOUNDS.items() if hasattr(told, name))
        yield from _bounds(getattr(told, "metadata", None) or [], None)
    for part in get_args(annotation):
        if not isinstance(part, (str, int)):
            yield from _bounds(list(getattr(part, "__metadata__", ())), part)


def commands() -> str:
    """Write every command with its arguments and options."""
    lines: list[str] = []
    for names, command in every_command(typer.main.get_command(app)):
        arguments = [_placeholder(one) for one in command.params if one.param_type_name == "argument"]
        usage = " ".join(["limbeck", *names, *arguments, "[OPTIONS]"])
        hints = get_type_hints(inspect.unwrap(command.callback))
        lines += [f"## limbeck {' '.join(names)}", "", inspect.cleandoc(command.help), "", "```text", usage, "```", ""]
        lines += ["| | | default |", "|---|---|---|"]
        lines += [f"| {_shown(one)} | {_meaning(one, hints[one.name])} | {_default(one)} |" for one in command.params]
        lines.append("")
    return "\n".join(lines)


def every_command(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    """Give all commands below one, with the words that call them; which classes they have differs between typers."""
    inside = getattr(command, "commands", None)
    if inside is None:
        yield names, command
        return
    for name, one in inside.items():
        yield from every_command(one, (*names, name))


def _placeholder(argument: Any) -> str:  # noqa: ANN401
    name = argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _shown(one: Any) -> str:  # noqa: ANN401
    if one.param_type_name == "argument":
        return f"`{_placeholder(one)}`"
    return ", ".join(f"`{name}`" for name in [*one.opts, *one.secondary_opts])


def _meaning(one: Any, hint: Any) -> str:  # noqa: ANN401
    about = " ".join((one.help or "").split()).replace("|", "\\|")
    members = hint if isinstance(hint, type) and issubclass(hint, Enum) else _choices(hint)
    choices = ", ".join(f"`{getattr(member, 'value', member)}`" for member in members)
    return f"{about} One of {choices}." if choices else about


def _default(one: Any) -> str:  # noqa: ANN401
    value = getattr(one.default, "value", one.default)
    if value is None or value == "" or one.required:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"`{value}`"


def with_errors(markdown: str) -> str:
    """Put the name and the meaning of each error below the heading of its code."""
    known = {kind.code: kind for kind in error_kinds()}

    def told(heading: re.Match[str]) -> str:
        kind = known[heading[1]]
        meaning = (inspect.getdoc(kind) or "").partition("\n")[0]
        shown = f"### {kind.code}: {kind.__name__} {{#{kind.code.lower()}}}"
        return f"{shown}\n\n*{meaning}* Exit code {kind.exit_code}; in Python a `{kind.__mro__[1].__name__}`."

    return CODE.sub(told, markdown)


def error_kinds() -> list[type[LimbeckError]]:
    """Give all errors that a user can meet, in the order of their codes."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LimbeckError)]
    return sorted((kind for kind in kinds if kind is not LimbeckError), key=lambda kind: kind.code)
