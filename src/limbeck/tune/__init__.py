"""Searching for better settings of baselines, teachers and students, by trials that are runs of the project."""

from limbeck.tune.found import Gain, Trial, Tuned
from limbeck.tune.run import tune
from limbeck.tune.space import TARGETS

__all__ = ["TARGETS", "Gain", "Trial", "Tuned", "tune"]
