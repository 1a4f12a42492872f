"""Writing a commented limbeck.toml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from limbeck.config.inputs import Task
from limbeck.config.section import Section
from limbeck.config.settings import Config


def render(task: Task, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Write a commented limbeck.toml that documents every setting with its default."""
    lines = [
        "# Every setting of this project, with its default. A key that is missing here has its default;",
        "# a misspelt key is an error.",
    ]
    config = Config(task=task)
    special = overrides or {}
    for name, value in _plain(config):
        lines += ["", *_comment(Config.model_fields[name].description or ""), f"{name} = {toml_value(value)}"]
    for section, model in _sections(config):
        lines += ["", "", f"[{section}]", *_comment(" ".join((type(model).__doc__ or "").split()))]
        for name, value in _plain(model):
            chosen = special.get(section, {}).get(name, value)
            lines += ["", *_comment(type(model).model_fields[name].description or ""), f"{name} = {toml_value(chosen)}"]
    return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """Write a plain value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _sections(config: Config) -> Iterator[tuple[str, Section]]:
    for name in Config.model_fields:
        value = getattr(config, name)
        if isinstance(value, Section):
            yield name, value


def _plain(model: Section) -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if not isinstance(value, Section):
            yield name, value


def _comment(text: str, width: int = 110) -> list[str]:
    lines, line = [], "#"
    for word in text.split():
        if len(line) + 1 + len(word) > width:
            lines.append(line)
            line = "#"
        line += " " + word
    return [*lines, line]
