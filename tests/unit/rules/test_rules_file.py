"""Reading rules.toml: what is wrong is named with its file, line, category and expression, and a way out."""

import pytest

from limbeck.errors import BadSetting, ConfigSyntax, FileMissing, UnknownSetting
from limbeck.rules import TEMPLATE, load_rules

GOOD = r"""
[punctuality]
include = ['\b(late|delay(ed)?)\b', 'verspät']
exclude = ['not late']

["train service"]
title = "Service"
include = [
    'rude',  # staff
    'unfreundlich',
]
weight = 1
negative = true
"""


@pytest.fixture
def read(tmp_path):
    def run(content):
        file = tmp_path / "rules.toml"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_rules(file)

    return run


def test_rules_are_read_in_the_order_of_the_file(read):
    rules = read(GOOD)
    assert rules.names == ("punctuality", "train service")
    first, second = rules.rules
    assert first.include == (r"\b(late|delay(ed)?)\b", "verspät") and first.exclude == ("not late",)
    assert (first.weight, first.negative, first.title) == (0.5, False, "")
    assert (second.weight, second.negative, second.title) == (1.0, True, "Service")


def test_the_example_works_as_it_is(read):
    rules = read(TEMPLATE)
    verdicts = [found["punctuality"].verdict for found in rules.match(["Verspätung!", "LATE", "I sleep late"])]
    assert verdicts == ["matched", "matched", "excluded"]


@pytest.mark.parametrize(
    ("content", "error", "line", "said"),
    [
        ("[late\ninclude = ['x']", ConfigSyntax, 1, "not TOML"),
        ('[late]\ninclude = ["\\wlate"]', ConfigSyntax, 2, "single quotes"),
        ("[late]\ninclude = ['x']\n[ärger]\n", ConfigSyntax, 3, '["ärger"]'),
        ("[late]\ninclude = ['x']\n[pünktlich]\n", ConfigSyntax, 3, '["ärger"]'),
        ("[late trains]\ninclude = ['x']", ConfigSyntax, 1, '["ärger"]'),
        ("[late]\ninclude = ['x']\n[late]\n", ConfigSyntax, 3, "not TOML"),
        (b"[late]\ninclude = ['x\xff']", ConfigSyntax, 2, "not UTF-8"),
        ("[late]\ninclude = ['x']\nexlude = ['y']", UnknownSetting, 3, "Did you mean 'exclude'"),
        ("[a]\ninclude = ['x']\n[late]\ninclude = ['x']\nfoo = 1", UnknownSetting, 5, "'late' has the key 'foo'"),
        ("[late.trains]\ninclude = ['x']", UnknownSetting, 1, '["late.trains"]'),
        ("", BadSetting, None, "no rule"),
        ("# nothing", BadSetting, None, "no rule"),
        ("\ninclude = ['x']", BadSetting, 2, "stands in no category"),
        ("[[late]]\ninclude = ['x']", BadSetting, 1, "one pair of brackets"),
        ("late = 3", BadSetting, 1, "no table"),
        ("['']\ninclude = ['x']", BadSetting, 1, "no name"),
        ("[' ']\ninclude = ['x']", BadSetting, 1, "no name"),
        ("[late]\ntitle = 'x'", BadSetting, 1, "includes nothing"),
        ("[a]\ninclude = ['x']\n\n[late]\ninclude = []", BadSetting, 4, "'late' includes nothing"),
        ("[late]\ninclude = 'late'", BadSetting, 2, "Write a list"),
        ("[late]\ninclude = ['x', 3]", BadSetting, 2, "Write a list"),
        ("[late]\ninclude = ['x']\nexclude = 1", BadSetting, 3, "Write a list"),
        ("[late]\ninclude = ['x']\nweight = 0", BadSetting, 3, "above 0"),
        ("[late]\ninclude = ['x']\nweight = 1.5", BadSetting, 3, "up to 1"),
        ("[late]\ninclude = ['x']\nweight = nan", BadSetting, 3, "above 0"),
        ("[late]\ninclude = ['x']\nweight = true", BadSetting, 3, "above 0"),
        ("[late]\ninclude = ['x']\nnegative = 1", BadSetting, 3, "true or false"),
        ("[late]\ninclude = ['x']\ntitle = 1", BadSetting, 3, "Write a text"),
        ("[late]\ninclude = [" + '"x",' * 501 + "]", BadSetting, 2, "at most 500"),
        ("\n".join(f"[c{n}]\ninclude = ['x']" for n in range(1001)), BadSetting, None, "1,001 categories"),
        (f"[late]\ninclude = {'[' * 5000}", ConfigSyntax, None, ""),
    ],
)
def test_what_cant_be_used(read, content, error, line, said):
    with pytest.raises(error) as raised:
        read(content)
    assert said in str(raised.value)
    assert raised.value.place.file.name == "rules.toml" and raised.value.place.line == line


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("(late", "missing )"),
        ("late)", "unexpected )"),
        ("[late", "missing ]"),
        ("*late", "repetition"),
        ("(?<!not )late", "no look-arounds: put what must not stand there under exclude"),
        ("late(?! again)", "no look-arounds"),
        (r"(late) \1", "no back-references"),
        (r"late\Z", r"Write \z or $"),
        ("(?-i)LATE", "never look at case"),
        (r"\C", "takes characters apart"),
        ("late|", "finds every text"),
        (".*", "finds every text"),
        ("", "empty"),
        (" ", "empty"),
    ],
)
def test_a_broken_expression_is_named_with_its_category_and_line(read, expression, said):
    with pytest.raises(BadSetting) as raised:
        read(
            f"[punctual]\ninclude = ['fine']\n\n[late]\ninclude = ['late']\nexclude = [\n  'fine',\n  '{expression}',\n]"
        )
    told = str(raised.value)
    assert "'late'" in told and f"'{expression}'" in told and said in told
    assert raised.value.place.line == (8 if expression.strip() else 6)


def test_a_backspace_that_was_meant_as_the_edge_of_a_word(read):
    with pytest.raises(BadSetting, match="single quotes|control character") as raised:
        read('[late]\ninclude = ["\\blate\\b"]')
    assert "single quotes" in raised.value.fix


def test_a_file_that_is_not_there_says_how_to_get_one(tmp_path):
    with pytest.raises(FileMissing, match="no such file") as raised:
        load_rules(tmp_path / "rules.toml")
    assert "limbeck rules --init" in raised.value.fix
