"""Reading back whatever was distilled."""

from __future__ import annotations

from pathlib import Path

from limbeck.baselines import BaselineScorer
from limbeck.scorer import Scorer
from limbeck.students.scorer import FILE_NAME, load_student


def load_distilled(folder: Path) -> Scorer:
    """Read a network or a baseline that learnt from a teacher."""
    return load_student(folder) if (folder / FILE_NAME).is_file() else BaselineScorer.load(folder)
