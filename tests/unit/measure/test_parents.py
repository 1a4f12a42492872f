"""Categories under parents: who belongs to whom, figures by parent, and settings that can't be meant."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from limbeck.config import load_project, parse_config
from limbeck.data.parents import check_parents, families, parent_names
from limbeck.errors import BadSetting
from limbeck.measure.parents import by_parent

LABELS = ("late", "rails", "seat", "wlan", "dog")
PARENTS = {"late": "timetable", "seat": "comfort", "wlan": "comfort", "comfort": "on board", "timetable": "travel"}


def test_a_parent_has_the_categories_of_its_children_too():
    grouped = {"travel": [0], "timetable": [0], "on board": [2, 3], "comfort": [2, 3]}
    assert families(PARENTS, LABELS) == grouped and list(families(PARENTS, LABELS)) == list(grouped)
    assert families({"wlan": "seat"}, LABELS) == {"seat": [3]}
    assert families({}, LABELS) == {}
    assert parent_names(PARENTS, LABELS) == {
        "late": "travel / timetable",
        "seat": "on board / comfort",
        "wlan": "on board / comfort",
    }


def test_figures_by_parent_are_means_over_categories_and_of_any_of_them():
    rng = np.random.default_rng(0)
    truth = (rng.random((300, 5)) < 0.3).astype(float)
    given = np.where(rng.random((300, 5)) < 0.2, truth == 0, truth == 1)
    told = by_parent(truth, given, {"comfort": [2, 3], "rest": [0, 1, 4]})
    assert told["comfort"].macro_f1 == pytest.approx(f1_score(truth[:, 2:4], given[:, 2:4], average="macro"))
    assert told["rest"].any_f1 == pytest.approx(f1_score(truth[:, [0, 1, 4]].any(1), given[:, [0, 1, 4]].any(1)))
    assert told["comfort"].support == (truth[:, 2:4] == 1).any(1).sum() and told["rest"].categories == 3


def test_a_text_has_none_of_them_only_if_all_are_known_not_to_be_there():
    nan = np.nan
    truth = np.array([[1, nan], [nan, nan], [0, nan], [0, 0], [nan, 1]])
    given = np.array([[0, 1], [1, 0], [1, 0], [1, 0], [0, 0]], dtype=bool)
    told = by_parent(truth, given, {"all": [0, 1]})["all"]
    # The first is found, the fourth wrong, the last missed; nobody knows about the others.
    assert told.any_f1 == pytest.approx(2 / (2 + 1 + 1)) and told.support == 2
    assert by_parent(np.zeros((2, 1)), np.zeros((2, 1), bool), {"none": [0]})["none"].as_dict() == {
        "categories": 0,
        "macro_f1": None,
        "any_f1": None,
        "support": 0,
    }


def test_a_circle_is_an_error():
    with pytest.raises(BadSetting, match=r"late → travel → late"):
        parse_config({"data": {"parents": {"late": "travel", "travel": "late"}}})
    with pytest.raises(BadSetting, match=r"late → late"):
        parse_config({"data": {"parents": {"late": "late"}}})


def test_an_unknown_category_is_an_error_that_names_its_line(tmp_path):
    (tmp_path / "limbeck.toml").write_text(
        '[data.parents]\nlate = "travel"\nwlam = "comfort"\ntravel = "all"\n', encoding="utf-8"
    )
    with pytest.raises(BadSetting, match=r"'wlam'") as told:
        check_parents(load_project(tmp_path), LABELS)
    assert told.value.place.line == 3 and "wlan" in told.value.fix
    with pytest.raises(BadSetting, match=r"circle") as told:
        load_project(tmp_path, ["data.parents.travel=late"])
