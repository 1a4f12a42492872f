"""The error tree: every code is unique, documented and kept."""

import re
from pathlib import Path

from limbeck import errors
from limbeck.errors import LimbeckError, Place, nearest


def all_errors() -> list[type[LimbeckError]]:
    return [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, LimbeckError)]


def test_codes_are_unique_and_stand_in_the_tree_that_the_module_shows():
    codes = {error.code: error.__name__ for error in all_errors()}
    assert len(codes) == len(all_errors())
    shown = dict((code, name) for name, code in re.findall(r"(\w+)\s+(L\d{3})", errors.__doc__ or ""))
    assert {code: name for code, name in codes.items() if code != "L000"} == shown


def test_an_error_tells_code_place_message_and_fix_on_one_line():
    error = errors.BadLabel("The label 'maybe' is wrong.", "Correct it.", Place(Path("a.csv"), 7, "label"))
    assert str(error) == "[L204] a.csv:7, column 'label': The label 'maybe' is wrong. Correct it."
    assert error.as_dict()["line"] == 7


def test_a_missing_extra_gives_the_command_that_installs_it():
    assert "pip install 'limbeck[track]'" in str(errors.ExtraMissing("track", "Tracking"))


def test_nearest_names_one_word_or_lists_all():
    assert nearest("foldz", ["folds", "seed"]) == "Did you mean 'folds'?"
    assert nearest("zzz", ["folds", "seed"]) == "Known are: folds, seed."
