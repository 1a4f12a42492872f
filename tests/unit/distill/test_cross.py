"""Texts made up of pieces of two others."""

from limbeck.distill.cross import crossed

TEXTS = ["one two three four five six", "a b c d e f g h", "short", "", "x y"]


def test_they_are_new_and_made_of_pieces_of_two():
    made = crossed(TEXTS, 40, seed=3)
    assert len(set(made)) == len(made) and not set(made) & set(TEXTS)
    words = [set(text.split()) for text in TEXTS]
    for text in made:
        assert sum(bool(set(text.split()) & of) for of in words) <= 2
    assert crossed(TEXTS, 40, seed=3) == made != crossed(TEXTS, 40, seed=4)


def test_as_many_as_are_wanted_or_as_there_are():
    assert len(crossed(TEXTS, 5, seed=0)) == 5
    assert crossed(TEXTS, 0, seed=0) == crossed([], 5, seed=0) == []
    assert crossed(["", " "], 5, seed=0) == []
    assert len(crossed(["a b"], 1000, seed=0)) < 10
