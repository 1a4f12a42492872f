"""Everything that can go wrong for a user, as one tree.

    LimbeckError
    ├── ConfigError             L100
    │   ├── ConfigMissing       L101  no limbeck.toml where one was expected
    │   ├── ConfigSyntax        L102  the file is not TOML
    │   ├── UnknownSetting      L103  a key that no setting has
    │   ├── BadSetting          L104  a value that its setting can't take
    │   └── ProjectExists       L105  init or demo-data would overwrite files
    ├── DataError               L200
    │   ├── FileMissing         L201
    │   ├── FileEmpty           L202
    │   ├── ColumnMissing       L203
    │   ├── BadLabel            L204  neither 0, 1 nor blank
    │   ├── UnknownLabel        L205  a label that training doesn't know
    │   ├── BrokenEncoding      L206  bytes that are not UTF-8
    │   ├── LineTooLong         L207
    │   ├── BrokenRow           L208  a line that is no row of its format
    │   ├── UnknownFormat       L209  a file ending that no reader takes
    │   ├── Contradiction       L210  the same text labelled yes and no
    │   ├── TooFewRows          L211  not enough rows to split or to train on
    │   └── BadInput            L212  texts or labels that the estimator can't take; a ValueError, too
    ├── ExtraMissing            L300  an optional package is not installed
    ├── EncoderMissing          L310  the configured encoder was not found
    ├── RunError                L400
    │   ├── ProjectBusy         L401  another run holds the project
    │   ├── ResultBroken        L402  a stored result does not match its hash
    │   ├── UnknownStep         L403
    │   ├── InputChanged        L404  a file changed while a step read it
    │   ├── SystemRefused       L405  the system refused to read or write a file
    │   ├── ClusterMissing      L406  no cluster answers at the configured address
    │   └── ClusterUnfit        L407  a cluster's nodes can't do the tasks
    ├── TuneError               L450  something about a search for better settings
    │   ├── NothingToTune       L451  a target that this project doesn't have, or with nothing to search
    │   ├── StudyUnreachable    L452  a study's database that can't be opened
    │   └── OtherStudy          L453  a study of other settings, data or a space that has changed
    ├── MeasureError            L500  figures asked of arrays that don't fit together
    ├── BundleError             L600
    │   ├── BundleMissing       L601  no bundle where one was expected
    │   ├── BundleBroken        L602  a file that is not as it was when the bundle was made
    │   ├── BundleVersion       L603  made by a version that this one doesn't understand
    │   └── BundleUnsafe        L604  files that no bundle has, or that lead out of the folder
    ├── ServeError              L700
    │   └── RepliesBroken       L701  a replies.toml that can't be used
    └── StoreError              L720
        ├── StoreMissing        L721  no store of texts where one was expected
        ├── StoreVersion        L722  made by a version that this one doesn't understand
        ├── StoreBusy           L723  too many wait to be written, or another process writes
        ├── TextRefused         L724  what the database can't hold
        ├── AnswerRefused       L725  an annotator's answer that fits neither the question nor the text
        └── AnswerLate          L726  somebody else has the text, or has answered, meanwhile

A code never changes its meaning. Every error says what was wrong, where, and what to do about it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Place:
    """Where in the user's files something stands; lines count from 1."""

    file: Path
    line: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        """Format as file:line, column 'c', leaving out what is not known."""
        text = str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return text if self.column is None else f"{text}, column '{self.column}'"


class LimbeckError(Exception):
    """An error that the user can do something about."""

    code = "L000"
    exit_code = 1

    def __init__(self, message: str, fix: str = "", place: Place | None = None) -> None:
        """Keep what was wrong (`message`), what to do (`fix`) and where (`place`)."""
        self.message = message
        self.fix = fix
        self.place = place
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an error travel from one process to another, whatever its class is made from."""
        return _again, (type(self), self.message, self.fix, self.place)

    def __str__(self) -> str:
        """Give the whole story on one line: code, place, message, fix."""
        where = f"{self.place}: " if self.place else ""
        return f"[{self.code}] {where}{self.message}" + (f" {self.fix}" if self.fix else "")

    def as_dict(self) -> dict[str, object]:
        """Give the error as plain values, for `--json`."""
        return {
            "code": self.code,
            "message": self.message,
            "fix": self.fix,
            "file": str(self.place.file) if self.place else None,
            "line": self.place.line if self.place else None,
            "column": self.place.column if self.place else None,
        }


def _again(kind: type[LimbeckError], message: str, fix: str, place: Place | None) -> LimbeckError:
    error = kind.__new__(kind, message)
    LimbeckError.__init__(error, message, fix, place)
    return error


class ConfigError(LimbeckError):
    """Something about the configuration."""

    code = "L100"
    exit_code = 2


class ConfigMissing(ConfigError):
    """There is no limbeck.toml where one was expected."""

    code = "L101"


class ConfigSyntax(ConfigError):
    """The configuration file is not TOML."""

    code = "L102"


class UnknownSetting(ConfigError):
    """A key that no setting has."""

    code = "L103"


class BadSetting(ConfigError):
    """A value that its setting can't take."""

    code = "L104"


class ProjectExists(ConfigError):
    """A command would overwrite files that are already there."""

    code = "L105"


class DataError(LimbeckError):
    """Something about the user's data files."""

    code = "L200"
    exit_code = 3


class FileMissing(DataError):
    """A configured file or folder does not exist."""

    code = "L201"


class FileEmpty(DataError):
    """A file that holds no row."""

    code = "L202"


class ColumnMissing(DataError):
    """A file lacks a column that its shape needs."""

    code = "L203"


class BadLabel(DataError):
    """A label that is neither 0, 1 nor blank."""

    code = "L204"


class UnknownLabel(DataError):
    """A label name that training doesn't know."""

    code = "L205"


class BrokenEncoding(DataError):
    """Bytes that are not UTF-8."""

    code = "L206"


class LineTooLong(DataError):
    """A line past the configured limit."""

    code = "L207"


class BrokenRow(DataError):
    """A line that is no row of its format."""

    code = "L208"


class UnknownFormat(DataError):
    """A file whose ending no reader takes."""

    code = "L209"


class Contradiction(DataError):
    """The same text is labelled yes and no for one category."""

    code = "L210"


class TooFewRows(DataError):
    """There are not enough rows to split or to train on."""

    code = "L211"


class BadInput(DataError, ValueError):
    """Texts or labels that were given to the estimator can't be used; scikit-learn expects a ValueError there."""

    code = "L212"


class ExtraMissing(LimbeckError):
    """An optional package is not installed."""

    code = "L300"
    exit_code = 4

    def __init__(self, extra: str, what: str) -> None:
        """Say that `what` needs the extra named `extra`."""
        super().__init__(f"{what} needs the extra '{extra}'.", f"Install it with: pip install 'limbeck[{extra}]'")


class EncoderMissing(LimbeckError):
    """The configured encoder was not found."""

    code = "L310"
    exit_code = 4


class RunError(LimbeckError):
    """Something about running the steps."""

    code = "L400"
    exit_code = 5


class ProjectBusy(RunError):
    """Another run holds the project."""

    code = "L401"


class ResultBroken(RunError):
    """A stored result does not match its hash."""

    code = "L402"


class UnknownStep(RunError):
    """A step that the chain doesn't have."""

    code = "L403"


class InputChanged(RunError):
    """A file changed while a step read it."""

    code = "L404"


class SystemRefused(RunError):
    """The system refused to read or write a file."""

    code = "L405"


class ClusterMissing(RunError):
    """No cluster answers at the configured address."""

    code = "L406"


class ClusterUnfit(RunError):
    """A cluster's nodes can't do the tasks, or don't live long enough."""

    code = "L407"


class TuneError(LimbeckError):
    """Something about a search for better settings."""

    code = "L450"
    exit_code = 5


class NothingToTune(TuneError):
    """A target that the project doesn't have, or in which nothing can be searched."""

    code = "L451"


class StudyUnreachable(TuneError):
    """A study's database can't be opened."""

    code = "L452"


class OtherStudy(TuneError):
    """A study was made for other settings, other data or another space."""

    code = "L453"


class MeasureError(LimbeckError):
    """Figures were asked of arrays that don't fit together."""

    code = "L500"


class BundleError(LimbeckError):
    """Something about a bundle."""

    code = "L600"
    exit_code = 6


class BundleMissing(BundleError):
    """There is no bundle where one was expected."""

    code = "L601"


class BundleBroken(BundleError):
    """A file is not as it was when the bundle was made."""

    code = "L602"


class BundleVersion(BundleError):
    """The bundle was made by a version that this one doesn't understand."""

    code = "L603"


class BundleUnsafe(BundleError):
    """The folder holds what no bundle has, or leads out of itself."""

    code = "L604"


class ServeError(LimbeckError):
    """Something about the server."""

    code = "L700"
    exit_code = 7


class RepliesBroken(ServeError):
    """A replies.toml that can't be used."""

    code = "L701"


class StoreError(LimbeckError):
    """Something about the store of texts and feedback."""

    code = "L720"
    exit_code = 7


class StoreMissing(StoreError):
    """There is no store where one was expected."""

    code = "L721"


class StoreVersion(StoreError):
    """The store was made by a version that this one doesn't understand."""

    code = "L722"


class StoreBusy(StoreError):
    """The store can't take more now, but may later."""

    code = "L723"


class TextRefused(StoreError):
    """The database can't hold what it was given."""

    code = "L724"


class AnswerRefused(StoreError):
    """An annotator's answer fits neither the question nor the text."""

    code = "L725"


class AnswerLate(StoreError):
    """A text went to somebody else before its answer came."""

    code = "L726"


def nearest(name: str, known: Iterable[str]) -> str:
    """Give a sentence that names the known word closest to `name`, or lists them all if none is close."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{close[0]}'?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"Known are: {shown}."
