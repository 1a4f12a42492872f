"""What this machine can do: CPU features, threads, installed extras, the configured encoder."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from limbeck import __version__
from limbeck.errors import EncoderMissing
from limbeck.runtime.processor import VNNI, processor
from limbeck.teach.encoders import find_encoder

# What matters for integer models: the names that Linux uses, by the names that people use.
X86_FEATURES = {
    "AVX2": ("avx2",),
    "AVX-512": ("avx512f",),
    "VNNI": VNNI,
    "AMX": ("amx_int8", "amx_tile"),
}
ARM_FEATURES = {"dot product": ("asimddp",), "int8 matrix multiply": ("i8mm",), "SVE": ("sve",)}
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Examination:
    """The findings; `features` maps a CPU feature to True, False or None where the system doesn't tell."""

    version: str
    python: str
    system: str
    cpu: str
    features: dict[str, bool | None]
    cores: int
    usable_cores: int
    memory_gib: float | None
    thread_variables: dict[str, str]
    extras: dict[str, tuple[str, ...]]
    encoder: str
    encoder_found: str | None
    encoder_problem: str | None

    def as_dict(self) -> dict[str, object]:
        """Give plain values for JSON; an extra maps to the packages it lacks."""
        return dict(self.__dict__)


def examine(encoder: str, root: Path = Path()) -> Examination:
    """Look at the machine and the installation; `encoder` is looked for from `root`."""
    flags, model = processor()
    features = ARM_FEATURES if platform.machine().lower() in ("aarch64", "arm64") else X86_FEATURES
    found, problem = None, None
    try:
        files = find_encoder(encoder, root)
        found = f"{files.kind}: {files.folder}"
    except EncoderMissing as error:
        problem = f"{error.message} {error.fix}"
    return Examination(
        version=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cpu=model,
        features={name: None if flags is None else bool(flags & set(any_of)) for name, any_of in features.items()},
        cores=os.cpu_count() or 1,
        usable_cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gib=_memory_gib(),
        thread_variables={name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        extras=missing_by_extra(),
        encoder=encoder,
        encoder_found=found,
        encoder_problem=problem,
    )


def missing_by_extra() -> dict[str, tuple[str, ...]]:
    """Map each extra to the packages of it that are not installed."""
    lacking: dict[str, list[str]] = {}
    for requirement in metadata.requires("limbeck") or []:
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        if extra:
            lacking.setdefault(extra[1], [])
            name = re.match(r"[\w.-]+", requirement)
            if name and not _installed(name[0]):
                lacking[extra[1]].append(name[0])
    return {extra: tuple(names) for extra, names in sorted(lacking.items())}


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None
