"""Facts from JSON: what is taken, and what each kind of wrong one is told."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import pytest

from limbeck.runtime.facts import BadFact, Matches, Within, not_empty, read_part


@dataclass(frozen=True)
class Wheel:
    spokes: Annotated[int, Within(3, 99)]

    def __post_init__(self):
        if self.spokes == 13:
            raise ValueError("nobody buys 13 spokes")


@dataclass(frozen=True)
class Cart:
    name: Annotated[str, Matches("[a-z]+")]
    load: Annotated[float, Within(0, 1)]
    wheels: Annotated[list[Wheel], not_empty]
    kind: Literal["hand", "horse"] = "hand"
    parts: dict[str, Wheel] = field(default_factory=dict)
    driver: str | None = None
    other: Any = None


GOOD = {"name": "barrow", "load": 1, "wheels": [{"spokes": 3}]}


def test_facts_come_back_as_they_were():
    cart = read_part(Cart, GOOD | {"parts": {"spare": {"spokes": 7}}, "driver": "Jo", "other": [1, "x"]})
    assert cart == Cart("barrow", 1.0, [Wheel(3)], "hand", {"spare": Wheel(7)}, "Jo", [1, "x"])
    assert type(cart.load) is float
    assert read_part(Cart, asdict(cart)) == cart


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"name": "Barrow!"}, "name"),
        ({"name": None}, "name"),
        ({"load": 1.5}, "load"),
        ({"load": float("nan")}, "load"),
        ({"load": True}, "load"),
        ({"load": "1"}, "load"),
        ({"wheels": []}, "wheels"),
        ({"wheels": {}}, "wheels"),
        ({"wheels": [{"spokes": 3}, {"spokes": 2}]}, "wheels.1.spokes"),
        ({"wheels": [{"spokes": 3.0}]}, "wheels.0.spokes"),
        ({"wheels": [{"spokes": 13}]}, "wheels.0"),
        ({"wheels": [{}]}, "wheels.0.spokes"),
        ({"wheels": [3]}, "wheels.0"),
        ({"kind": "ox"}, "kind"),
        ({"parts": {"spare": {"spokes": 3, "rim": 1}}}, "parts.spare.rim"),
        ({"parts": []}, "parts"),
        ({"driver": 3}, "driver"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_fact_is_named(change, where):
    with pytest.raises(BadFact) as caught:
        read_part(Cart, GOOD | change)
    assert caught.value.where == where
    assert where in str(caught.value)
