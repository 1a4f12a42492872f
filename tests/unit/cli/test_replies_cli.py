"""limbeck replies check: a file of replies beside the bundle that it is for."""

import json

import pytest
from bundles import write_bundle
from typer.testing import CliRunner

from limbeck.cli.replies import app
from limbeck.errors import BundleError, BundleMissing, RepliesBroken
from limbeck.runtime.manifest import Tagging

GOOD = """
languages = ["en"]
category.late.text = "Late."
category.hot.text = "Hot."
category.wifi.text = "WiFi."
nothing.text = "Thanks."
unsure = {below = 0.6, text = "Perhaps."}
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("replies") / "b")


@pytest.fixture
def check(tmp_path, bundle):
    def run(content, *arguments, folder=bundle):
        file = tmp_path / "replies.toml"
        file.write_text(content, encoding="utf-8")
        return CliRunner().invoke(app, ["check", str(file), str(folder), *arguments])

    return run


def test_good_replies(check):
    done = check(GOOD)
    assert done.exit_code == 0 and "All 3 categories have a reply" in done.output
    assert json.loads(check(GOOD, "--json").output) == {"errors": 0, "warnings": 0, "findings": []}


def test_warnings_alone_are_no_failure(check):
    done = check(GOOD.replace('nothing.text = "Thanks."', ""))
    assert done.exit_code == 0 and "0 errors, 1 warnings" in done.output and "nothing" in done.output


def test_errors_are(check):
    content = GOOD.replace("category.hot", "category.hott")
    done = check(content)
    assert done.exit_code == 1 and "1 errors, 1 warnings" in done.output
    told = json.loads(check(content, "--json").output)
    assert (told["errors"], told["warnings"]) == (1, 1)
    assert [one["place"] for one in told["findings"]] == ["category.hot", "category.hott"]


def test_a_rule_for_two_where_a_text_has_one_category(check, tmp_path):
    rule = '[[rule]]\nname = "two"\nwhen = ["late", "hot"]\ntext = "Both."\n'
    assert check(GOOD + rule).exit_code == 0
    assert check(GOOD + rule, folder=write_bundle(tmp_path / "one", task="multiclass")).exit_code == 1


def test_files_that_cant_be_used(check, tmp_path):
    assert isinstance(check(GOOD + "x = 1").exception, RepliesBroken)
    assert isinstance(check(GOOD, folder=tmp_path).exception, BundleMissing)
    entities = write_bundle(tmp_path / "ner", task="ner", tagging=Tagging(reads="encoder"))
    assert isinstance(check(GOOD, folder=entities).exception, BundleError)
