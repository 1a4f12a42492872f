"""Categories from a few regular expressions: what they find, how often they are right, what to ask people about."""

from limbeck.errors import ExtraMissing

try:
    import re2  # noqa: F401
except ImportError:
    raise ExtraMissing("train", "Finding texts by rules") from None

from limbeck.rules.draw import Candidate, candidates
from limbeck.rules.figures import Survey
from limbeck.rules.file import FILE_NAME, TEMPLATE, load_rules
from limbeck.rules.rules import Finding, Rule, Rules
from limbeck.rules.surveying import survey
from limbeck.rules.weak import WeakLabels, weak_labels, weak_rows

__all__ = [
    "FILE_NAME",
    "TEMPLATE",
    "Candidate",
    "Finding",
    "Rule",
    "Rules",
    "Survey",
    "WeakLabels",
    "candidates",
    "load_rules",
    "survey",
    "weak_labels",
    "weak_rows",
]
