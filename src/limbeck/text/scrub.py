"""Replacement of personal data by placeholders: e-mail addresses, phone numbers, IBANs, ticket numbers.

Every pattern asks for an '@' or for a digit 0-9, is bounded in length or possessive, and so reads a text in linear
time. None of them finds anything in a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DIGIT = re.compile("[0-9]")

# Cheap and necessary conditions that begin with a digit, for which the search skips ahead: most texts end there.
_MAY_HOLD_IBAN = re.compile(r"[0-9]{2}(?<=[A-Za-z]{2}[0-9]{2})[ \xa0-]?[A-Za-z0-9]")
_MAY_HOLD_PHONE = re.compile(r"[0-9](?:\W{0,4}+[0-9]){6}")
_TOKEN = "[A-Za-z0-9/-]"
_NEXT = "(?:[A-Za-z0-9/-]| (?=[0-9]))"
_MAY_HOLD_TICKET = re.compile(
    "[0-9](?:" + "|".join(f"(?<={_TOKEN}{{{left}}}){_NEXT}{{{6 - left}}}" for left in range(1, 7)) + ")"
)

_LABEL = r"\w++(?:-++\w++)*+"
_EMAIL = re.compile(rf"(?<![\w.%+-])[\w.%+-]++@{_LABEL}(?:\.{_LABEL}){{1,10}}(?<=[^\W0-9_]{{2}})")

_IBAN_COUNTRIES = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 "
    "EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 "
    "KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 "
    "PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 "
    "VA22 VG24 XK20"
)
_IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _IBAN_COUNTRIES.split()}
_IBAN = re.compile(r"(?<![^\W_])[A-Za-z]{2}[0-9]{2}(?=[ \xa0-]?[A-Za-z0-9])")
_IBAN_BODIES = {
    length: re.compile(rf"(?:[ \xa0-]?[A-Za-z0-9]){{{length - 4}}}(?![^\W_])") for length in set(_IBAN_LENGTHS.values())
}
_IBAN_GAPS = str.maketrans("", "", " \xa0-")

_CUE = (
    r"(?:tickets?|bookings?|reservations?|orders?|confirmation|invoice|customer|pnr|ref(?:erence|erenz)?|bahncard|"
    r"auftrags?|buchungs?|bestell(?:ung)?s?|reservierungs?|vorgangs?|fahrkarten?|fahrscheine?|kunden|rechnungs?)"
)
_NUMBER_WORD = r"[ -]?(?:numbers?|nummern?|num|no|nr|code|id|ref(?:erence|erenz)?|confirmation)\b\.?"
_TICKET = re.compile(
    rf"\b{_CUE}(?P<word>(?:{_NUMBER_WORD}){{0,2}})"
    r"(?P<link>(?: ?[:#=]| (?:is|was|ist|war|lautet)\b){0,3})[ \xa0]{0,2}"
    r"(?<![^\W_])(?P<value>[a-z0-9]{1,40}+(?:[-/][a-z0-9]{1,40}+){0,5})(?!\w)"
    r"(?P<more>(?: [0-9]{2,20}+(?!\w|[.,:/-][0-9])){0,6})",
    re.IGNORECASE,
)
_SURE_CUE = re.compile(r"pnr|ref", re.IGNORECASE)
_SEGMENT = re.compile(r"[^/-]+")
_TRAIN = re.compile(r"(?:ICE|ECE|IC|EC|EN|NJ|RJX?|IRE|RE|RB|TGV|FLX|S|U)[0-9]{1,5}", re.IGNORECASE)
_DATE = (
    r"(?:[0-9]{1,2}[./-][0-9]{1,2}[./-](?:19|20)[0-9]{2}(?![0-9])|(?:19|20)[0-9]{2}-[0-9]{1,2}-[0-9]{1,2}(?![0-9])|"
    r"(?:19|20)[0-9]{2}/(?:19|20)?[0-9]{2}(?![0-9])|[0-9]{1,2}\.[0-9]{1,2}\.(?![0-9]))"
)
_IS_DATE = re.compile(_DATE)

_SEPARATOR = r"(?:[ \xa0]{1,2}|[ \xa0]?[-./–‐‑][ \xa0]?)"
_UNIT = r"[ \xa0]?(?:€|\$|£|%|(?:eur|euros?|uhr|chf|usd|gbp|km|kg)\b)"
_NO_GROUP = rf"(?!{_DATE}|[0-9]{{1,2}}:[0-9]|[0-9]{{1,15}}(?:,[0-9]|{_UNIT}))"
_GROUPS = rf"(?:{_SEPARATOR}{_NO_GROUP}[0-9]{{1,15}}+(?![0-9a-z])){{0,7}}"
_PHONE = re.compile(
    r"(?<!\w)(?<![0-9][.,:/–-])(?:"
    # +49 30 123456, +44 (0)20 7946 0958, (+49) 171 2345678, 0049 ...
    r"(?:\(\+[1-9][0-9]{0,2}\)[ \xa0]?[0-9]{1,14}+|\+[ \xa0]?[1-9][0-9]{0,14}+|00[1-9][0-9]{0,14}+)"
    rf"(?:[ \xa0]?\([0-9]{{1,5}}\)[ \xa0]?[0-9]{{1,12}}+)?{_GROUPS}"
    # (030) 123456, 0171/2345678, 020 7946 0958
    rf"|(?:\(0[1-9][0-9]{{1,4}}\)[ \xa0]?[-/]?[ \xa0]?[0-9]{{2,12}}+|0[1-9][0-9]{{1,13}}+){_GROUPS}"
    # (555) 123-4567, 1-800-555-1234, 555 234 5678
    r"|(?:1[-. ])?(?:(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-.])[0-9]{3}[-. ]|[2-9][0-9]{2} [2-9][0-9]{2} )[0-9]{4}"
    r")(?![0-9])",
    re.IGNORECASE,
)
_DIGITS = re.compile("[0-9]+")
_AMOUNT_BEHIND = re.compile(rf",[0-9]{{1,2}}(?![0-9])|{_UNIT}", re.IGNORECASE)
_SHAPES_OF_NO_PHONE = re.compile(
    # Decimals, thousands with dots, a span of two times of day.
    r"\+?[0-9]+\.[0-9]+|\+?[0-9]{1,3}(?:\.[0-9]{3})+|[01][0-9][0-5][0-9] ?[-–/ ] ?[0-2][0-9][0-5][0-9]"
)


def scrub_email(text: str) -> str:
    """Replace e-mail addresses by [email]."""
    return _EMAIL.sub("[email]", text) if "@" in text else text


def scrub_iban(text: str) -> str:
    """Replace bank account numbers that pass the IBAN check by [iban]."""
    return _replace(text, _MAY_HOLD_IBAN, _IBAN, _find_iban, "[iban]")


def scrub_ticket(text: str) -> str:
    """Replace the number behind a word like 'ticket no.' or 'Auftragsnummer' by [ticket]."""
    return _replace(text, _MAY_HOLD_TICKET, _TICKET, _find_ticket, "[ticket]")


def scrub_phone(text: str) -> str:
    """Replace phone numbers by [phone]."""
    return _replace(text, _MAY_HOLD_PHONE, _PHONE, _find_phone, "[phone]")


def _replace(
    text: str,
    may_hold: re.Pattern[str],
    pattern: re.Pattern[str],
    find: Callable[[re.Match[str]], tuple[int, int] | None],
    placeholder: str,
) -> str:
    if not may_hold.search(text):
        return text
    pieces: list[str] = []
    kept = at = 0
    while match := pattern.search(text, at):
        at = match.end()
        if span := find(match):
            pieces += text[kept : span[0]], placeholder
            kept = at = span[1]
    if not pieces:
        return text
    pieces.append(text[kept:])
    return "".join(pieces)


def _find_iban(match: re.Match[str]) -> tuple[int, int] | None:
    length = _IBAN_LENGTHS.get(match.group()[:2].upper())
    if length is None:
        return None
    body = _IBAN_BODIES[length].match(match.string, match.end())
    if body is None:
        return None
    # ISO 13616: the first four go to the end, letters count from A = 10, the rest by 97 is 1.
    number = "".join(str(int(character, 36)) for character in body.group().translate(_IBAN_GAPS) + match.group())
    return (match.start(), body.end()) if int(number) % 97 == 1 else None


def _find_ticket(match: re.Match[str]) -> tuple[int, int] | None:
    value = match["value"]
    if _IS_DATE.match(value) or _TRAIN.fullmatch(value):
        return None
    sure = bool(match["word"] or match["link"].strip() or _SURE_CUE.match(match.group()))
    segments = list(_SEGMENT.finditer(value))
    whole = len(segments)
    while segments and not _DIGIT.search(segments[-1].group()):
        segments.pop()
    if not segments:
        return None
    end = match.start("value") + segments[-1].end()
    found = match.string[match.start("value") : end]
    digits = _count_digits(found)
    more = _count_digits(match["more"])
    if len(segments) == whole and found.replace("-", "").isdecimal() and (sure or digits + more > 9):
        end = match.end("more")
        found += match["more"]
        digits += more
    if sum(map(str.isalnum, found)) < 6 or digits < (1 if sure else 3):
        return None
    return match.start("value"), end


def _count_digits(text: str) -> int:
    return sum(map(len, _DIGITS.findall(text)))


def _find_phone(match: re.Match[str]) -> tuple[int, int] | None:
    total = _count_digits(match.group())
    count, end, used = 0, match.start(), 0
    for group in _DIGITS.finditer(match.string, match.start(), match.end()):
        size = len(group.group())
        # Two numbers in a row: '030 123456 / 0171 2345678', but not '+44 (0) 20 7946 0958'.
        another = count >= 8 and size > 2 and group.group()[0] == "0" and total - count > 6
        if another or count + size > 15:
            break
        count, end, used = count + size, group.end(), used + 1
    if count < (8 if used == 1 else 7):
        return None
    found = match.string[match.start() : end]
    if _SHAPES_OF_NO_PHONE.fullmatch(found) or _AMOUNT_BEHIND.match(match.string, end):
        return None
    return match.start(), end
