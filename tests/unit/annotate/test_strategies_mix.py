"""Mixes of strategies, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbeck.annotate.strategies import NER_STRATEGIES, parse_mix
from limbeck.annotate.strategies.mix import turns
from limbeck.errors import BadSetting


def test_a_mix_is_read_with_its_shares():
    assert parse_mix("confidence:0.6, diversity:0.2, false-positives:0.2") == pytest.approx(
        {"confidence": 0.6, "diversity": 0.2, "false-positives": 0.2}
    )


def test_a_name_alone_is_a_whole_share_and_shares_need_not_add_up():
    assert parse_mix("entropy") == {"entropy": 1.0}
    assert parse_mix("entropy, random") == {"entropy": 0.5, "random": 0.5}
    assert parse_mix(" entropy : 3 ,random:1, margin:0") == {"entropy": 0.75, "random": 0.25}


def test_entities_have_names_of_their_own():
    assert parse_mix("span", NER_STRATEGIES) == {"span": 1.0}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("", "has a part without a name"),
        ("confidence,,random", "has a part without a name"),
        (":0.5", "has a part without a name"),
        ("confidence:0.5, confidence:0.5", "names 'confidence' twice"),
        ("confidence:much", "'much' in the mix 'confidence:much' is no number"),
        ("confidence:", "'' in the mix 'confidence:' is no number"),
        ("confidence:-1", "share of 'confidence' is -1.0"),
        ("confidence:nan", "share of 'confidence' is nan"),
        ("confidence:inf", "share of 'confidence' is inf"),
        ("confidence:0", "All shares of the mix are 0"),
        ("confidense", "no query strategy 'confidense'. Did you mean 'confidence'"),
        ("span", "no query strategy 'span'"),
    ],
)
def test_what_is_wrong_with_a_mix_is_told(told, message):
    with pytest.raises(BadSetting, match=message):
        parse_mix(told)


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(0.01, 1), min_size=1), st.integers(0, 60))
def test_turns_are_never_off_by_more_than_the_number_of_strategies(shares, count):
    total = sum(shares.values())
    mix = {name: share / total for name, share in shares.items()}
    order = turns(mix, count)
    assert len(order) == count
    assert all(abs(order.count(name) - share * count) < len(mix) for name, share in mix.items())
