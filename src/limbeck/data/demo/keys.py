"""Telling whether two texts are the same but for case, punctuation and white space."""


def text_key(text: str) -> str:
    """Reduce a text to its letters and digits in one case."""
    return "".join(character for character in text.casefold() if character.isalnum())


class KeySet:
    """Texts that were used already, compared by `text_key`."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return text_key(text) in self._keys

    def add(self, text: str) -> bool:
        """Note a text; return whether it was new."""
        key = text_key(text)
        if key in self._keys:
            return False
        self._keys.add(key)
        return True
