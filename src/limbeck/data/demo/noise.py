"""How people type: slips, missing capitals and stops, shouting."""

import random
import re

_NEIGHBOURS = {
    "a": "sq",
    "b": "vn",
    "c": "xv",
    "d": "sf",
    "e": "wr",
    "f": "dg",
    "g": "fh",
    "h": "gj",
    "i": "uo",
    "j": "hk",
    "k": "jl",
    "l": "k",
    "m": "n",
    "n": "bm",
    "o": "ip",
    "p": "o",
    "q": "wa",
    "r": "et",
    "s": "ad",
    "t": "ry",
    "u": "yi",
    "v": "cb",
    "w": "qe",
    "x": "zc",
    "y": "tu",
    "z": "x",
}
_WORD = re.compile(r"[A-Za-z]{4,}")
_STOPS = re.compile(r"[.,;:!?]+(?=\s|$)")


def roughen(text: str, carelessness: float, rng: random.Random) -> str:
    """Type the text again, with `carelessness` (0 to 1) as the chance that any one habit shows."""
    if rng.random() < carelessness:
        for _ in range(1 + min(len(text) // 120, 3) * (rng.random() < 0.5)):
            text = slip(text, rng)
    if rng.random() < carelessness * 0.5:
        text = text.lower()
    elif rng.random() < carelessness * 0.1:
        text = text.upper()
    elif rng.random() < carelessness * 0.15:
        text = _shout_a_word(text, rng)
    if rng.random() < carelessness * 0.5:
        text = text.rstrip(".!")
    elif rng.random() < carelessness * 0.2:
        text = _STOPS.sub("", text)
    elif rng.random() < carelessness * 0.3 and text.endswith((".", "!")):
        text = text[:-1] + "!" * rng.randint(2, 4)
    return text


def slip(text: str, rng: random.Random) -> str:
    """Mistype one word of four or more letters; the first letter stays, so the word can be guessed."""
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = rng.choice(words)
    at = rng.randrange(word.start() + 1, word.end())
    letter = text[at]
    habit = rng.random()
    if habit < 0.3:
        return text[:at] + text[at + 1 :]
    if habit < 0.5:
        return text[:at] + letter + text[at:]
    if habit < 0.75 and at + 1 < word.end():
        return text[:at] + text[at + 1] + letter + text[at + 2 :]
    return text[:at] + rng.choice(_NEIGHBOURS[letter.lower()]) + text[at + 1 :]


def _shout_a_word(text: str, rng: random.Random) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = rng.choice(words)
    return text[: word.start()] + word[0].upper() + text[word.end() :]
