"""Results on disk: written whole or not at all, under keys of what they were made from.

A result is a folder `KIND/KEY`. It is filled under `tmp/` and renamed into place, so a reader meets it finished or not
at all, whenever the writer was killed. Its `manifest.json` lists every file's hash.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import importlib.util
import inspect
import json
import os
import secrets
import shutil
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any

from limbeck.errors import FileMissing, Place, ProjectBusy, ResultBroken

MANIFEST = "manifest.json"
WAIT_SECONDS = 0.2


def key_of(parts: object) -> str:
    """Hash plain values to the short key under which a result is stored."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def hash_file(path: Path) -> str:
    """Hash a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=64)
def code_version(package: str) -> str:
    """Hash the code of a module or package, blind to comments, layout and docstrings."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ValueError(f"no code for {package}")
    origin = Path(spec.origin)
    files = sorted(origin.parent.rglob("*.py")) if spec.submodule_search_locations else [origin]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(origin.parent).as_posix().encode())
        digest.update(_code_of(file).encode())
    return digest.hexdigest()[:16]


def function_version(function: Callable[..., Any]) -> str:
    """Hash one function's code, blind to the same things."""
    return hashlib.sha256(_code(textwrap.dedent(inspect.getsource(function))).encode()).hexdigest()[:16]


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Give the installed versions of libraries whose work a result holds; an absent one has none."""
    found = {}
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _code_of(file: Path) -> str:
    return _code(file.read_bytes())


def _code(source: str | bytes) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body[0] = ast.Pass()
    return ast.dump(tree)


def content_of(result: Path) -> str:
    """Hash what a finished result's files hold, but for figures, which tell seconds."""
    told = json.loads((result / MANIFEST).read_text(encoding="utf-8"))["files"]
    return key_of({name: digest for name, digest in told.items() if name != "figures.json"})


def write_atomically(path: Path, content: str) -> None:
    """Replace a text file in one step that a kill can't cut in two."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def link_or_copy(file: Path, target: Path) -> None:
    """Put a file in a second place, without a second copy if both stand on one disk."""
    try:
        target.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, target)


class Store:
    """The results of one project, below `root`."""

    def __init__(self, root: Path) -> None:
        """Use `root`, which need not exist yet. `made` lists, as (kind, key), what this process put there."""
        self.root = root
        self.made: list[tuple[str, str]] = []

    def folder(self, kind: str, key: str) -> Path:
        """Say where a result stands, finished or not."""
        return self.root / kind / key

    def find(self, kind: str, key: str) -> Path | None:
        """Give the folder of a finished result, or None."""
        folder = self.folder(kind, key)
        return folder if (folder / MANIFEST).is_file() else None

    def check(self, kind: str, key: str) -> None:
        """Raise if a finished result's files are not what was written."""
        folder = self.folder(kind, key)
        manifest = self.manifest(kind, key)
        if manifest is None:
            raise ResultBroken("The stored manifest can't be read.", "Run again.", Place(folder / MANIFEST))
        for name, digest in manifest["files"].items():
            file = folder / name
            if not file.is_file() or hash_file(file) != digest:
                raise ResultBroken(
                    f"The stored file {name} was changed or lost.",
                    "Run again: `limbeck run` makes the result anew.",
                    Place(file),
                )

    def intact(self, kind: str, key: str) -> bool:
        """Say whether a result is there and is what was written."""
        if self.find(kind, key) is None:
            return False
        try:
            self.check(kind, key)
        except ResultBroken:
            return False
        return True

    @contextlib.contextmanager
    def write(self, kind: str, key: str, about: Mapping[str, Any]) -> Iterator[Path]:
        """Give an empty folder to fill; on leaving without an error it becomes the result `kind`/`key`.

        `about` (configuration, inputs, …) goes into the manifest. Nothing is left behind after an error.
        """
        # On several machines two processes may have one number, and for a while do one task.
        part = self.root / "tmp" / f"{kind.replace('/', '-')}-{key}-{os.getpid()}-{secrets.token_hex(4)}"
        part.mkdir(parents=True)
        try:
            yield part
            files = {file.relative_to(part).as_posix(): file for file in sorted(part.rglob("*")) if file.is_file()}
            manifest = {
                **about,
                "finished": time.time(),
                "files": {name: hash_file(file) for name, file in files.items()},
            }
            (part / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False), encoding="utf-8")
            for file in [*files.values(), part / MANIFEST]:
                _sync(file)
            self._put(part, self.folder(kind, key))
            self.made.append((kind, key))
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _put(self, part: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            self.remove(target)
        part.rename(target)
        _sync(target.parent)

    def remove(self, folder: Path) -> None:
        """Delete a result; it first leaves its place, so that nobody meets it half deleted."""
        trash = self.root / "tmp" / f"old-{folder.name}-{time.time_ns()}"
        trash.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(trash)
        shutil.rmtree(trash, ignore_errors=True)

    def manifest(self, kind: str, key: str) -> dict[str, Any] | None:
        """Give what is known about a finished result; None where there is none, or its manifest is broken."""
        folder = self.find(kind, key)
        if folder is None:
            return None
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except ValueError:
            return None
        return manifest if isinstance(manifest, dict) and "files" in manifest else None

    def latest(self, kind: str) -> tuple[str, dict[str, Any]] | None:
        """Give key and manifest of the result of this kind that was finished last."""
        return next(iter(self.newest_first(kind)), None)

    def newest_first(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """Give keys and manifests of all finished results of this kind."""
        found = [(f.name, m) for f in self._folders(kind) if (m := self.manifest(kind, f.name))]
        return sorted(found, key=lambda item: -float(item[1]["finished"]))

    def _folders(self, kind: str) -> list[Path]:
        folder = self.root / kind
        return [child for child in folder.iterdir() if child.is_dir()] if folder.is_dir() else []

    def sweep(self) -> None:
        """Remove what killed processes left half written. Call it only while holding the lock."""
        shutil.rmtree(self.root / "tmp", ignore_errors=True)

    @contextlib.contextmanager
    def lock(self, patience: float = 0.0) -> Iterator[None]:
        """Hold the project, after at most `patience` seconds of waiting; the system frees it when the process ends."""
        self.root.mkdir(parents=True, exist_ok=True)
        last = time.monotonic() + patience
        with (self.root / "lock").open("a+", encoding="utf-8") as file:
            while not _held(file):
                if time.monotonic() < last:
                    time.sleep(WAIT_SECONDS)
                    continue
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise ProjectBusy(
                    f"Another run holds this project: {holder}.", "Wait for it, or stop it first.", Place(self.root)
                )
            file.truncate(0)
            file.write(f"process {os.getpid()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n")
            file.flush()
            yield


class FileHashes:
    """Hashes of input files, remembered by size and time of change so that a large pool is hashed once."""

    def __init__(self, cache: Path) -> None:
        """Remember hashes in the JSON file `cache`."""
        self.cache = cache
        self.known: dict[str, list[Any]] = {}
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(cache.read_text(encoding="utf-8"))
            self.known = known if isinstance(known, dict) else {}

    def of(self, path: Path) -> str:
        """Hash a file."""
        if not path.is_file():
            raise FileMissing(f"There is no file {path}.", "Check the paths under [data] in limbeck.toml.", Place(path))
        stat = path.stat()
        seen = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
        name = str(path.resolve())
        if name not in self.known or self.known[name][:3] != seen:
            self.known[name] = [*seen, hash_file(path)]
        return str(self.known[name][3])

    def save(self) -> None:
        """Write the cache; losing it costs only time."""
        write_atomically(self.cache, json.dumps(self.known))


def _held(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
