"""Changing single settings in a limbeck.toml that people wrote: all else in it stays, comments too."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from limbeck.config.render import toml_value
from limbeck.errors import ConfigSyntax

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")


def with_settings(text: str, settings: Mapping[str, Any]) -> str:
    """Give the file's text with these settings (section.key) put in; one that it lacks goes to its section's end."""
    for name, value in settings.items():
        wanted = copy.deepcopy(tomllib.loads(text))
        section, _, key = name.partition(".")
        wanted.setdefault(section, {})[key] = value
        text = _with(text, section, key, value)
        if _parsed(text) != wanted:
            line = f"{key} = {toml_value(value)}"
            raise ConfigSyntax(f"'{name}' can't be changed in a file that is written so.", f"Under [{section}]: {line}")
    return text


def _with(text: str, section: str, key: str, value: object) -> str:
    lines = text.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    written = f"{key} = {toml_value(value)}"
    inside, last = False, -1
    for at, line in enumerate(lines):
        if header := _HEADER.match(line):
            inside = header[1].strip('"') == section
            last = at if inside else last
        elif inside and re.match(rf'\s*"?{re.escape(key)}"?\s*=', line):
            end = _end_of_value(lines, at)
            lines[at:end] = [f"{written}{_comment_of(lines[end - 1])}{ending}"]
            return "".join(lines)
        elif inside and line.strip() and not line.lstrip().startswith("#"):
            last = at
    if last < 0:
        whole = text if not text or text.endswith(("\n", "\r\n")) else text + ending
        return f"{whole}{ending}[{section}]{ending}{written}{ending}"
    if not lines[last].endswith("\n"):
        lines[last] += ending
    lines.insert(last + 1, f"{written}{ending}")
    return "".join(lines)


def _end_of_value(lines: list[str], at: int) -> int:
    """Find the line after a value, which may go over several."""
    for end in range(at + 1, len(lines) + 1):
        if _parsed("".join(lines[at:end])) is not None:
            return end
    return at + 1


def _comment_of(line: str) -> str:
    """Give the comment that follows a value on its last line, with a space before it."""
    for at, character in enumerate(line):
        if character == "#" and (_parsed(line[:at]) is not None or re.fullmatch(r"[\s\]},\"']*", line[:at])):
            return "  " + line[at:].rstrip()
    return ""


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
