"""Selecting: what is certain, what is left out, what is capped, and what labelled rows are filled with."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_pool import NAN, prepared, selection

from limbeck.errors import BadSetting, TooFewRows
from limbeck.pseudo import select as selecting

# What is stored is a little rounded, so that nothing here lies right at the edge.
TABLE = {
    "hot": (0.96, 0.02),
    "online": (0.12, 0.91),
    "both": (0.86, 0.97),
    "neither": (0.033, 0.011),
    "who knows": (0.62, 0.05),
    "no idea": (0.45, 0.55),
}


def rows(folder, labels=("heat", "wifi")):
    """Give {text: cells} of the selected texts."""
    table = pq.read_table(folder / "selected.parquet").to_pylist()
    return {row["text"]: [float(row[label]) for label in labels] for row in table}


def close(cells):
    return pytest.approx(cells, abs=1e-3, nan_ok=True)


def told(folder):
    return json.loads((folder / "selection.json").read_text(encoding="utf-8"))


def test_at_one_half_every_guess_counts(tmp_path):
    assert rows(selection(tmp_path, TABLE)) == {text: close(row) for text, row in TABLE.items()}


def test_an_uncertain_category_leaves_the_text_out(tmp_path):
    found = rows(selection(tmp_path, TABLE, confidence=0.85))
    assert list(found) == ["hot", "online", "both", "neither"]


def test_or_is_unknown(tmp_path):
    found = rows(selection(tmp_path, TABLE, confidence=0.9, uncertain="unknown"))
    assert found == {
        "hot": close([0.96, 0.02]),
        "online": close([NAN, 0.91]),
        "both": close([NAN, 0.97]),
        "neither": close([0.033, 0.011]),
        "who knows": close([NAN, 0.05]),
    }


def test_thresholds_move_what_is_certain(tmp_path, monkeypatch):
    monkeypatch.setattr(selecting, "choose_thresholds", lambda *_: np.array([0.8, 0.02]))
    folder = selection(tmp_path, TABLE, confidence=0.7)
    # hot: 0.9 and 0.5; both: 0.5 + 0.06 / 0.4 = 0.65; neither: 1 - 0.033 / 1.6 = 0.98 and 1 - 0.011 / 0.04 = 0.725;
    # who knows: 1 - 0.62 / 1.6 = 0.61; no idea: 1 - 0.45 / 1.6 = 0.72 and 0.5 + 0.53 / 1.96 = 0.77.
    assert list(rows(folder)) == ["online", "neither", "no idea"]
    thresholds = json.loads((folder / "thresholds.json").read_text(encoding="utf-8"))
    assert thresholds == {"labels": ["heat", "wifi"], "thresholds": [0.8, 0.02]}


def test_yes_and_no_may_need_different_confidence(tmp_path):
    assert list(rows(selection(tmp_path / "yes", TABLE, positive_confidence=0.88))) == ["hot", "online", "neither"]
    assert list(rows(selection(tmp_path / "no", TABLE, negative_confidence=0.97))) == ["hot", "both"]


def test_a_category_may_need_its_own(tmp_path):
    found = rows(selection(tmp_path, TABLE, confidence=0.55, categories={"heat": 0.92}))
    assert list(found) == ["hot", "neither"]


def test_an_unknown_category_in_the_settings_is_an_error(tmp_path):
    with pytest.raises(BadSetting, match="Did you mean 'heat'"):
        selection(tmp_path, TABLE, categories={"heatt": 0.9})


def test_repeated_texts_count_and_labelled_ones_are_not_pool_rows(tmp_path):
    data = prepared(train=["hot"])
    table = {**TABLE, "online!": (0.1, 0.9)}
    folder = selection(tmp_path, table, data)
    assert set(rows(folder)) == set(table) - {"hot"}
    table = pq.read_table(folder / "selected.parquet")
    assert table.schema.field("row").type == "int64" and table.schema.field("count").type == "int32"
    assert table.schema.field("heat").type == "halffloat" and set(table.column("count").to_pylist()) == {1}
    assert told(folder)["sizes"]["texts"] == 6


def test_labelled_rows_get_certain_guesses_and_those_about_what_they_do_not_know_are_counted(tmp_path):
    labels = [[1, NAN], [NAN, 0], [NAN, NAN], [NAN, 1]]
    guesses = [[0.2, 0.95], [0.7, 0.02], [0.01, 0.99], [NAN, NAN]]
    data = prepared(train=["a", "b", "c", "d"], labels=labels)
    folder = selection(tmp_path / "on", TABLE, data, guesses, confidence=0.9)
    filled = np.load(folder / "labelled.npy")
    expected = [[NAN, 0.95], [NAN, 0.02], [0.01, 0.99], [NAN, NAN]]
    assert filled.dtype == np.float32 and filled == pytest.approx(np.array(expected), nan_ok=True)
    assert told(folder)["sizes"] == {"texts": 6, "kept": 2, "labelled_rows": 4, "filled": 3}
    off = selection(tmp_path / "off", TABLE, data, guesses, confidence=0.9, fill_labelled=False)
    assert np.isnan(np.load(off / "labelled.npy")).all() and told(off)["sizes"]["filled"] == 0


def many(with_some=40, empty=400):
    table = {f"hot {number}": (0.9, 0.1) for number in range(with_some)}
    return table | {f"nothing {number}": (0.1, 0.1) for number in range(empty)}


def test_texts_without_a_category_are_capped_and_those_with_one_stay(tmp_path):
    found = list(rows(selection(tmp_path / "a", many(), empty=1.5)))
    assert sum(text.startswith("hot") for text in found) == 40
    assert sum(text.startswith("nothing") for text in found) == 60
    assert found == list(rows(selection(tmp_path / "b", many(), empty=1.5)))
    enough = selection(tmp_path / "c", many(), empty=10)
    assert len(rows(enough)) == 440 and told(enough)["limits"] == {"empty": None, "parents": {}, "rows": None}


def test_rows_are_drawn_after_that_and_alike(tmp_path):
    found = list(rows(selection(tmp_path / "a", many(400, 4000), empty=1, rows=200)))
    assert len(found) == 200
    assert 70 < sum(text.startswith("hot") for text in found) < 130
    assert len(rows(selection(tmp_path / "b", many(), rows=1000))) == 440


def test_the_figures_tell_what_each_category_lost(tmp_path):
    found = told(selection(tmp_path, TABLE, confidence=0.85))
    assert [at["share"] for at in found["kept_at"]] == pytest.approx([1, 5 / 6, 4 / 6, 4 / 6, 4 / 6, 2 / 6, 2 / 6, 0])
    heat, wifi = found["categories"]
    assert heat["category"] == "heat" and heat["threshold"] == 0.5
    assert (heat["yes"], heat["yes_kept"], heat["certain"], heat["uncertain"]) == (3, 2, 4, 2)
    assert (wifi["yes"], wifi["yes_kept"], wifi["certain"], wifi["uncertain"]) == (3, 2, 5, 1)
    assert heat["mean_probability"] == pytest.approx(3.043 / 6, abs=1e-3)
    assert sum(heat["histogram"]) == 6 and heat["histogram"][12] == 1 and len(heat["histogram"]) == 20
    # Kept: yes no, no yes, yes yes, no no.
    assert found["correlation"] == [[1, 0], [0, 1]]


def test_correlation_is_over_cells_that_are_known_of_both(tmp_path):
    table = {
        f"{a}{b}{n}": (a, b) for a, b, count in ((0.9, 0.95, 3), (0.1, 0.02, 4), (0.9, 0.6, 5)) for n in range(count)
    }
    found = told(selection(tmp_path, table, confidence=0.85, uncertain="unknown"))
    assert found["correlation"] == [[1, 1], [1, 1]] and found["sizes"]["kept"] == 12
    assert [category["yes_kept"] for category in found["categories"]] == [8, 3]


def test_a_category_that_is_always_the_same_correlates_with_nothing(tmp_path):
    found = told(selection(tmp_path, {"a": (0.9, 0.1), "b": (0.1, 0.1)}))
    assert found["correlation"][0][1] is None


def test_of_classes_the_highest_probability_decides(tmp_path):
    table = {"a": (0.7, 0.3), "b": (0.55, 0.45), "c": (0.05, 0.95)}
    folder = selection(tmp_path, table, task="multiclass", confidence=0.6)
    assert list(rows(folder)) == ["a", "c"]
    assert [category["yes"] for category in told(folder)["categories"]] == [2, 1]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"confidence": 0.99},
            r"highest confidence at which one stays is 0\.96.*Set pseudo\.confidence to 0\.96 or less",
        ),
        ({"confidence": 0.999, "uncertain": "unknown"}, r"stays is 0\.98, and pseudo\.confidence is 0\.999"),
        ({"categories": {"heat": 1.0}}, r"Set pseudo\.confidence and pseudo\.categories to 0\.96"),
        ({"empty": 1.0, "positive_confidence": 1.0}, r"pseudo\.empty = 0"),
    ],
)
def test_nothing_kept_says_what_would_keep_some(tmp_path, settings, says):
    with pytest.raises(TooFewRows, match=says):
        selection(tmp_path, TABLE, **settings)


def test_classes_that_all_have_less_than_a_half_can_still_be_kept(tmp_path):
    data = prepared(names=("a", "b", "c"))
    table = {"hm": (0.45, 0.3, 0.25)}
    with pytest.raises(TooFewRows, match=r"Set pseudo\.positive_confidence to 0\.4"):
        selection(tmp_path / "none", table, data, task="multiclass")
    assert list(rows(selection(tmp_path / "one", table, data, task="multiclass", positive_confidence=0.4), "abc")) == [
        "hm"
    ]


def test_a_pool_of_labelled_rows_alone_has_nothing_to_select(tmp_path):
    with pytest.raises(TooFewRows, match="Every text of the pool is a labelled row"):
        selection(tmp_path, {"hot": (0.9, 0.1)}, prepared(train=["Hot!"]))


def test_a_category_called_like_a_column_is_none(tmp_path):
    data = prepared(names=("text", "row"))
    folder = selection(tmp_path, {"hot": (0.9, 0.1)}, data)
    [row] = pq.read_table(folder / "selected.parquet").to_pylist()
    assert row["text"] == "hot" and float(row["label:text"]) == pytest.approx(0.9, abs=1e-3)


def test_a_bound_on_texts_of_a_parent_leaves_those_of_rare_ones(tmp_path):
    from limbeck.config import parse_config
    from limbeck.pseudo.select import load_sieve

    labels = ("heat", "cold", "wifi")
    table = {f"heat {n}": [0.9, 0, 0] for n in range(30)} | {f"cold {n}": [0, 0.9, 0] for n in range(30)}
    table |= {f"wifi {n}": [0, 0, 0.9] for n in range(4)} | {f"hot and offline {n}": [0.9, 0, 0.9] for n in range(3)}
    table |= {f"nothing {n}": [0, 0, 0] for n in range(9)}
    parents = {"heat": "air", "cold": "air", "wifi": "net"}
    out = selection(tmp_path, table, prepared(names=labels), parents=parents, parent_rows=10)
    texts = pq.read_table(out / "selected.parquet").column("text").to_pylist()
    count = {word: sum(text.startswith(word) for text in texts) for word in ("heat", "cold", "wifi", "hot", "nothing")}
    assert count["wifi"] == 4 and count["hot"] == 3 and count["nothing"] == 9
    assert 7 <= count["heat"] + count["cold"] <= 10
    config = parse_config({"data": {"parents": parents}, "pseudo": {"parent_rows": 10}})
    sieve = load_sieve(out, config, False)
    assert [limit is None for _, limit in sieve.parents] == [False, True]
