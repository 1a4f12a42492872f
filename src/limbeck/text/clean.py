"""Cleaning of texts by a declared list of steps, the same in training and in serving."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from limbeck.errors import BadSetting, nearest
from limbeck.text.encoding import CONTINUATION, repair
from limbeck.text.markup import strip_markup
from limbeck.text.words import PICTURES

# Scripts whose spelling uses the joiners U+200C and U+200D: Arabic to Sinhala, Tibetan, Myanmar, Khmer, Mongolian, ...
_JOINING = "\u0600-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\ua87f\ua8e0-\uaaff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
# A picture may wear a skin tone and a variation selector before the joiner that ties it to the next.
_DRESSED = f"{PICTURES}\U0001f3fb-\U0001f3ff\ufe0f"
_SPACES = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef"
    "\ufeff\ufff9-\ufffb\ufffe\uffff"
)
_DROPPED = re.compile(
    f"[{_INVISIBLE}]+"
    f"|[\u200c\u200d](?!(?<=[{_JOINING}][\u200c\u200d])[{_JOINING}])(?!(?<=[{_DRESSED}]\u200d)[{PICTURES}])"
)
_TAGS = "\U000e0001\U000e0020-\U000e007f"
# A flag such as Scotland's is a black flag, tag letters and an end tag.
_FLAG_OR_TAGS = re.compile(f"(\U0001f3f4[\U000e0020-\U000e007e]++\U000e007f)|[{_TAGS}]+")
_HAS_TAGS = re.compile(f"[{_TAGS}]")

_PASSES = 8
_EVER_DROPPED = re.compile(f"[{_INVISIBLE}{_TAGS}\u200c\u200d\ud800-\udfff\ufffd]+")
_TRIGGERS = re.compile(f"[<&@0-9]|{CONTINUATION}")


def _drop_control(text: str) -> str:
    if text.isprintable():
        return text
    text = _DROPPED.sub("", _SPACES.sub(" ", text))
    return _FLAG_OR_TAGS.sub(r"\1", text) if _HAS_TAGS.search(text) else text


def _squeeze_whitespace(text: str) -> str:
    return " ".join(text.split())


def _lower(text: str) -> str:
    lowered = text.lower()
    # Composing may give a capital's sign back, such as the Kelvin sign its K.
    return lowered if lowered.isascii() else unicodedata.normalize("NFC", lowered).lower()


def _scrub(what: str, text: str) -> str:
    """Call a function of `limbeck.text.scrub`, which is loaded when it is first used: its expressions take a while."""
    from limbeck.text import scrub

    scrubbed: str = getattr(scrub, f"scrub_{what}")(text)
    return scrubbed


@dataclass(frozen=True)
class Step:
    """One named change of a text, with a line that says what it does."""

    name: str
    about: str
    run: Callable[[str], str] = field(repr=False)


# In the order in which they run. IBANs and ticket numbers go before phone numbers, which might be part of them.
STEPS: dict[str, Step] = {
    step.name: step
    for step in (
        Step("encoding", "Repair UTF-8 read as cp1252 or latin-1, drop broken characters, compose to NFC.", repair),
        Step("html", "Remove tags, comments, scripts and styles, decode entities.", strip_markup),
        Step("control", "Drop control, zero-width and direction characters; line ends to spaces.", _drop_control),
        Step("whitespace", "Turn every run of white space into one space, none at the ends.", _squeeze_whitespace),
        Step("lower", "Turn capitals into small letters.", _lower),
        Step("scrub-email", "Replace e-mail addresses by [email].", partial(_scrub, "email")),
        Step("scrub-iban", "Replace IBANs that pass their check by [iban].", partial(_scrub, "iban")),
        Step("scrub-ticket", "Replace ticket, booking and order numbers by [ticket].", partial(_scrub, "ticket")),
        Step("scrub-phone", "Replace phone numbers by [phone].", partial(_scrub, "phone")),
    )
}
DEFAULT_STEPS: tuple[str, ...] = ("encoding", "html", "control", "whitespace")


@dataclass(frozen=True, init=False)
class Cleaner:
    """Clean texts by the named steps, which run in the order of `STEPS` however they are listed.

    Cleaning twice is cleaning once, for any steps and any text. One step may reveal work for another ('&lt;b&gt;'
    becomes a tag), so the list is repeated until a pass changes nothing; such a text is a fixed point, and a second
    cleaning ends after its first pass.

    It ends, because it is repeated at most 8 times. Ordinary text, even escaped several times over, needs two or
    three passes; a text that still changes after 8 was built to, and is then defused. Every character that makes a
    step act becomes a space or goes: '<' and '&' (html), '@' and 0-9 (scrub), what mojibake must contain (encoding),
    all that is invisible (control). What is put in is a space only, next to which nothing composes, so the text stays
    in NFC and in lower case, and closing up white space brings no two other characters together. Hence no step
    changes it.
    """

    steps: tuple[str, ...]
    _runs: tuple[Callable[[str], str], ...] = field(repr=False, compare=False)

    def __init__(self, steps: Iterable[str] = DEFAULT_STEPS) -> None:
        """Take the names of the steps, each of which must be in `STEPS`."""
        if isinstance(steps, str):
            raise BadSetting(f"The cleaning steps are one text, '{steps}'.", f'Write a list: ["{steps}"].')
        named = list(steps)
        for name in named:
            if name not in STEPS:
                raise BadSetting(f"There is no cleaning step '{name}'.", nearest(str(name), STEPS))
        object.__setattr__(self, "steps", tuple(name for name in STEPS if name in named))
        object.__setattr__(self, "_runs", tuple(STEPS[name].run for name in self.steps))

    def __call__(self, text: str) -> str:
        """Give the cleaned text; what holds nothing but white space gives '' if `whitespace` is a step."""
        for _ in range(_PASSES):
            before = text
            for run in self._runs:
                text = run(text)
            if text == before:
                return text
        return self._defuse(text)

    def as_list(self) -> list[str]:
        """Give the names in the order in which they run, for the JSON of a model."""
        return list(self.steps)

    def _defuse(self, text: str) -> str:
        text = _EVER_DROPPED.sub("", _SPACES.sub(" ", text))
        text = _lower(text) if "lower" in self.steps else unicodedata.normalize("NFC", text)
        text = _TRIGGERS.sub(" ", text)
        return _squeeze_whitespace(text) if "whitespace" in self.steps else text
