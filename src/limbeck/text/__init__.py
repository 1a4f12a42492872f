"""Cleaning, scrubbing and word tokens: the same text in training and in serving."""

from limbeck.text.clean import DEFAULT_STEPS, STEPS, Cleaner
from limbeck.text.normalise import normalise
from limbeck.text.words import count_words, words

__all__ = ["DEFAULT_STEPS", "STEPS", "Cleaner", "count_words", "normalise", "words"]
