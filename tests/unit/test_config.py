"""The configuration: documented in full, checked in full."""

import tomllib
from pathlib import Path

import pytest

from limbeck.config import Config, load_project, parse_config, render
from limbeck.errors import BadSetting, ConfigMissing, ConfigSyntax, UnknownSetting


@pytest.mark.parametrize("task", ["multilabel", "multiclass", "ner"])
def test_a_fresh_file_documents_every_setting_and_is_valid(task):
    text = render(task)
    values = tomllib.loads(text)
    config = parse_config(values)
    assert config.task == task
    for name, field in Config.model_fields.items():
        section = getattr(config, name)
        if hasattr(section, "model_fields"):
            assert set(values[name]) == set(type(section).model_fields)
            for setting in type(section).model_fields.values():
                assert setting.description and setting.description.split()[0] in text
        else:
            assert values[name] == section and field.description


def test_the_defaults_in_the_file_are_the_defaults_in_the_code():
    assert parse_config(tomllib.loads(render("multilabel"))) == Config()


def test_a_misspelt_key_names_the_nearest_and_its_line(tmp_path: Path):
    (tmp_path / "limbeck.toml").write_text('task = "multilabel"\n\n[split]\nflods = 3\n', encoding="utf-8")
    with pytest.raises(
        UnknownSetting, match=r"limbeck.toml:4: There is no setting 'split.flods'. Did you mean 'folds'\?"
    ):
        load_project(tmp_path)


def test_an_unknown_section_names_the_nearest():
    with pytest.raises(UnknownSetting, match="Did you mean 'baselines'"):
        parse_config({"baseline": {"trials": 3}})


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("split.folds=1", "split.folds"),
        ("split.folds=many", "split.folds"),
        ("task=other", "task"),
        ('text.clean=["hmtl"]', "text.clean"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_with_its_key(project_folder, override, key):
    with pytest.raises(BadSetting, match=key.replace(".", r"\.")):
        load_project(project_folder, [override])


def test_overrides_are_toml_values_or_else_strings(project_folder):
    config = load_project(
        project_folder,
        [
            "split.folds=4",
            "data.pool=[]",
            "data.dev=other dev.csv",
            'track.uri="http://127.0.0.1:1"',
            "track.mlflow=true",
        ],
    ).config
    assert (config.split.folds, config.data.pool, config.data.dev, config.track.mlflow) == (
        4,
        [],
        "other dev.csv",
        True,
    )


@pytest.mark.parametrize("override", ["split", "=3", "split.=3", "task.x=3"])
def test_an_override_that_is_none_says_how_to_write_one(project_folder, override):
    with pytest.raises((BadSetting, UnknownSetting), match="--set section.key=value"):
        load_project(project_folder, [override])


def test_no_file_and_broken_files_say_what_to_do(tmp_path):
    with pytest.raises(ConfigMissing, match="limbeck init"):
        load_project(tmp_path)
    (tmp_path / "limbeck.toml").write_text('task = "multilabel"\nseed = oops\n', encoding="utf-8")
    with pytest.raises(ConfigSyntax, match="limbeck.toml:2"):
        load_project(tmp_path)
    (tmp_path / "limbeck.toml").write_bytes(b'task = "\xff"')
    with pytest.raises(ConfigSyntax):
        load_project(tmp_path)


def test_a_bad_override_is_not_blamed_on_the_file(project_folder):
    with pytest.raises(BadSetting, match=r"--set split.folds=1: 'split.folds' can't be 1"):
        load_project(project_folder, ["split.folds=1"])


def test_a_byte_order_mark_is_read_over_and_kinds_are_taken_once(project_folder):
    file = project_folder / "limbeck.toml"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    config = load_project(project_folder, ['baselines.kinds=["svm", "svm"]']).config
    assert config.baselines.kinds == ["svm"]
