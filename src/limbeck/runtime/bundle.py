"""The bundle: a folder with a graph, a tokeniser, facts and a model card, each byte of which is checked on loading.

bundle.json      what it is: labels, thresholds, reading, figures, the other files' hashes, and its own
model.onnx       input_ids, attention_mask [texts, tokens] → logits, probabilities [texts, labels], embedding
tokenizer.json   as the tokenizers library writes it
README.md        the model card
larger.onnx      of a cascade: the model that answers where the first is not sure, with larger-tokenizer.json
config.json      for transformer students, with tokenizer_config.json: what tools in the style of transformers want
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from limbeck.errors import BundleBroken, BundleMissing, BundleUnsafe, BundleVersion, Place
from limbeck.runtime.facts import BadFact, read_part
from limbeck.runtime.graphfile import NoGraph, wants_other_files
from limbeck.runtime.manifest import FORMAT, FileFacts, Manifest

FACTS, GRAPH, TOKENISER, CARD = "bundle.json", "model.onnx", "tokenizer.json", "README.md"
CONFIG, TOKENISER_CONFIG = "config.json", "tokenizer_config.json"
LARGER, LARGER_TOKENISER = "larger.onnx", "larger-tokenizer.json"
NEEDED = (GRAPH, TOKENISER, CARD)
MEGABYTE = 1 << 20
# Far above what any model here needs; a larger file is none of ours, and isn't read.
LARGEST = dict.fromkeys((CARD, CONFIG, TOKENISER_CONFIG), MEGABYTE) | {
    FACTS: 16 * MEGABYTE,
    **dict.fromkeys((GRAPH, LARGER), 2048 * MEGABYTE),
    **dict.fromkeys((TOKENISER, LARGER_TOKENISER), 128 * MEGABYTE),
}
_AGAIN = "Copy the bundle again from where it was made, or make it again with: limbeck compress"


@dataclass(frozen=True)
class Bundle:
    """A checked bundle; `graph` and `tokeniser` are the very bytes that were checked. A cascade has a `larger` one."""

    folder: Path
    manifest: Manifest
    graph: bytes
    tokeniser: bytes
    larger: Bundle | None = None


def _missing(folder: Path) -> BundleMissing:
    inside = folder / "bundle"
    fix = "Name the folder that limbeck run or limbeck compress made."
    if (inside / FACTS).is_file():
        return BundleMissing(f"{folder} is a project, not its bundle.", f"Did you mean {inside}?")
    if not folder.exists():
        return BundleMissing(f"There is no folder {folder}.", fix)
    return BundleMissing(f"{folder} is no bundle: it has no {FACTS}.", fix)


def read_bundle(folder: Path) -> Bundle:
    """Read a bundle; whatever is not as it was made, or was never part of one, is an error."""
    if not (folder / FACTS).is_file() or (folder / FACTS).is_symlink():
        raise _missing(folder)
    manifest = _manifest(folder)
    contents: dict[str, bytes] = {}
    for name, facts in manifest.files.items():
        contents[name] = _content(folder, name, facts)
    for graph in (GRAPH, LARGER):
        if graph in contents:
            _check_graph(folder, graph, contents[graph])
    larger = None
    if told := manifest.cascade:
        its_own = replace(manifest, cascade=None, reading=told.reading, model=told.model, tagging=told.tagging)
        larger = Bundle(folder, its_own, contents[LARGER], contents[LARGER_TOKENISER])
    return Bundle(folder, manifest, contents[GRAPH], contents[TOKENISER], larger)


def _check_graph(folder: Path, name: str, content: bytes) -> None:
    try:
        outside = wants_other_files(content)
    except NoGraph as error:
        raise BundleBroken(f"{name} is no ONNX model: {error}.", _AGAIN, Place(folder / name)) from None
    if outside:
        raise BundleUnsafe(
            f"{name} keeps numbers in another file, which may be any file of this machine.", _AGAIN, Place(folder)
        )


def write_facts(folder: Path, manifest: Manifest) -> None:
    """Write `bundle.json` beside the other files, with the hashes of all of them and its own."""
    files = {path.name: facts_of(path.read_bytes()) for path in sorted(folder.iterdir()) if path.name != FACTS}
    told = asdict(replace(manifest, files=files))
    text = json.dumps({**told, "sha256": "0" * 64}, indent=1, ensure_ascii=False) + "\n"
    (folder / FACTS).write_text(text.replace("0" * 64, _digest(text.encode()), 1), encoding="utf-8")


def facts_of(content: bytes) -> FileFacts:
    """Give a file's size and hash."""
    return FileFacts(bytes=len(content), sha256=_digest(content))


def _manifest(folder: Path) -> Manifest:
    place = Place(folder / FACTS)
    raw = _read(folder, FACTS)
    try:
        told = json.loads(raw)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise BundleBroken(f"{FACTS} is no JSON: {error}.", _AGAIN, place) from None
    if not isinstance(told, dict):
        raise BundleBroken(f"{FACTS} holds no facts.", _AGAIN, place)
    if told.get("format") != FORMAT:
        raise BundleVersion(
            f"This bundle has format {told.get('format')!r}, this version of Limbeck reads {FORMAT}.",
            "Install the version that made it, or make it again.",
            place,
        )
    own = told.pop("sha256", None)
    if not isinstance(own, str) or len(own) != 64 or _digest(raw.replace(own.encode(), b"0" * 64, 1)) != own:
        raise BundleBroken(f"{FACTS} was changed after the bundle was made.", _AGAIN, place)
    try:
        manifest = read_part(Manifest, told)
    except BadFact as error:
        raise BundleBroken(f"{FACTS}: {error}.", _AGAIN, place) from None
    _check_names(folder, manifest.files, NEEDED if manifest.cascade is None else (*NEEDED, LARGER, LARGER_TOKENISER))
    return manifest


def _check_names(folder: Path, files: Mapping[str, FileFacts], needed: Sequence[str]) -> None:
    """Refuse files that no bundle has, named or lying there."""
    for name in [*files, *_names(folder)]:
        if name not in LARGEST:
            raise BundleUnsafe(
                f"A bundle has no file '{name}'.", "Take it away if it is yours; else don't trust the bundle.",
                Place(folder),
            )  # fmt: skip
    lacking = [name for name in needed if name not in files]
    if lacking or FACTS in files:
        raise BundleBroken(f"{FACTS} tells of no {lacking[0] if lacking else 'other files'}.", _AGAIN, Place(folder))
    unasked = [name for name in _names(folder) if name != FACTS and name not in files]
    if unasked:
        raise BundleUnsafe(f"{FACTS} doesn't know {unasked[0]}.", _AGAIN, Place(folder))


def _names(folder: Path) -> Iterator[str]:
    yield from sorted(path.name for path in folder.iterdir())


def _content(folder: Path, name: str, facts: FileFacts) -> bytes:
    content = _read(folder, name)
    if len(content) != facts.bytes or _digest(content) != facts.sha256:
        raise BundleBroken(
            f"{name} is not as it was made: {len(content):,} bytes, of {facts.bytes:,}"
            if len(content) != facts.bytes
            else f"{name} is not as it was made: its hash differs",
            _AGAIN,
            Place(folder / name),
        )
    return content


def _read(folder: Path, name: str) -> bytes:
    """Read a plain file that stands in the folder itself and isn't larger than any of its kind."""
    path = folder / name
    try:
        about = path.lstat()
    except FileNotFoundError:
        raise BundleBroken(f"{name} is missing.", _AGAIN, Place(folder)) from None
    if not stat.S_ISREG(about.st_mode):
        raise BundleUnsafe(f"{name} is no plain file: it may lead out of the folder.", _AGAIN, Place(path))
    if about.st_size > LARGEST[name]:
        raise BundleUnsafe(
            f"{name} has {about.st_size:,} bytes; no bundle's has more than {LARGEST[name]:,}.", _AGAIN, Place(path)
        )
    return path.read_bytes()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
