"""Quality measures in which unknown is not negative: figures, curves, calibration, thresholds and their certainty."""

from limbeck.measure.bootstrap import Difference, Interval, bootstrap_interval, paired_bootstrap
from limbeck.measure.calibration import Bin, expected_calibration_error, reliability
from limbeck.measure.counts import decide, decide_classes
from limbeck.measure.curves import average_precision, precision_recall_curve
from limbeck.measure.quality import Figures, LabelFigures, evaluate, evaluate_by_source, evaluate_classes
from limbeck.measure.thresholds import choose_thresholds, steady_thresholds, tune_thresholds

__all__ = [
    "Bin",
    "Difference",
    "Figures",
    "Interval",
    "LabelFigures",
    "average_precision",
    "bootstrap_interval",
    "choose_thresholds",
    "decide",
    "decide_classes",
    "evaluate",
    "evaluate_by_source",
    "evaluate_classes",
    "expected_calibration_error",
    "paired_bootstrap",
    "precision_recall_curve",
    "reliability",
    "steady_thresholds",
    "tune_thresholds",
]
