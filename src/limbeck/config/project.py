"""Reading limbeck.toml: what it says, overrides from the command line, and what is wrong with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from limbeck.config.settings import Config
from limbeck.errors import BadSetting, ConfigMissing, ConfigSyntax, Place, UnknownSetting, nearest

FILE_NAME = "limbeck.toml"


@dataclass(frozen=True)
class Project:
    """A project folder and its resolved configuration."""

    root: Path
    config: Config

    def path(self, name: str) -> Path:
        """Resolve a path of the configuration, which is relative to the project."""
        return self.root / name

    @property
    def workdir(self) -> Path:
        """The folder that holds all results."""
        return self.root / ".limbeck"


def load_project(root: Path, overrides: Iterable[str] = ()) -> Project:
    """Read `root`/limbeck.toml and apply `section.key=value` overrides."""
    root = Path(root)
    file = root / FILE_NAME
    if not file.is_file():
        raise ConfigMissing(
            f"There is no {FILE_NAME} in {root.resolve()}.",
            "Make a project with: limbeck init DIR --task multilabel, or name one with --project DIR.",
        )
    try:
        content = file.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else None
        fix = "Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else "Correct the line; strings need quotes."
        raise ConfigSyntax(f"This is not TOML: {error}.", fix, Place(file, line)) from None
    config = parse_config(values, file)
    for override in overrides:
        _apply(values, override)
        config = parse_config(values, Path(f"--set {override}"))
    return Project(root, config)


def parse_config(values: Mapping[str, Any], file: Path = Path(FILE_NAME)) -> Config:
    """Check plain values against the models; `file` is only named in errors."""
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise _explain(error, file) from None


def _apply(values: dict[str, Any], override: str) -> None:
    """Set `section.key=value` in nested plain values; the value is TOML, or a string when it isn't."""
    key, equals, raw = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise BadSetting(
            f"'{override}' is not an override.", "Write --set section.key=value, e.g. --set split.folds=3."
        )
    try:
        value = tomllib.loads(f"v = {raw.strip()}")["v"]
    except tomllib.TOMLDecodeError:
        value = raw.strip()
    table = values
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise UnknownSetting(f"'{part}' in '{key}' is a setting, not a section.", "Write --set section.key=value.")
    table[parts[-1]] = value


def _explain(error: ValidationError, file: Path) -> UnknownSetting | BadSetting:
    """Turn the first of pydantic's findings into a sentence that names the key, the line and the way out."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    place = Place(file, _line_of(file, path))
    if first["type"] == "extra_forbidden":
        model: type[BaseModel] = Config
        for part in path[:-1]:
            model = _model_at(model, part)
        return UnknownSetting(f"There is no setting '{'.'.join(path)}'.", nearest(path[-1], model.model_fields), place)
    key = ".".join(part for part in path if not part.startswith("constrained-") and "[" not in part)
    reason = first["msg"].removeprefix("Value error, ")
    sentence = f"'{key}' can't be {first['input']!r}: {reason[0].lower()}{reason[1:].rstrip('.?')}."
    return BadSetting(sentence, f"The comment above it in a fresh {FILE_NAME} says what it takes.", place)


def _model_at(model: type[BaseModel], name: str) -> type[BaseModel]:
    annotation = model.model_fields[name].annotation if name in model.model_fields else None
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else model


def place_of(project: Project, *path: str) -> Place:
    """Say where a setting stands in the project's file."""
    file = project.root / FILE_NAME
    return Place(file, _line_of(file, list(path)))


def _line_of(file: Path, path: list[str]) -> int | None:
    """Find the line of a key by reading the file as people do: the last matching key in its section."""
    if not file.is_file():
        return None
    section: list[str] = []
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if header := re.match(r"\s*\[([^\]]+)\]", line):
            section = [part.strip().strip('"') for part in header[1].split(".")]
            if section == path:
                return number
        elif (key := re.match(r"\s*\"?([\w-]+)\"?\s*=", line)) and path[: len(section) + 1] == [*section, key[1]]:
            return number
    return None
