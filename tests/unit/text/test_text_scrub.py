"""Personal data goes; dates, times, prices and train numbers stay."""

from __future__ import annotations

import pytest

from limbeck.text import STEPS, Cleaner

SCRUB = [name for name in STEPS if name.startswith("scrub-")]


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Mail: foo.bar+x@mail.example.co.uk, bitte.", "Mail: [email], bitte."),
        ("<müller@bücher.de>", "<[email]>"),
        ("an a@b.de- danke", "an [email]- danke"),
        ("a@b.de;c@d.org", "[email];[email]"),
    ],
)
def test_email(text: str, scrubbed: str) -> None:
    assert Cleaner(["scrub-email"])(text) == scrubbed


@pytest.mark.parametrize("text", ["@name", "a@b", "5 @ 3.50", "x@1.2", "@"])
def test_what_is_no_email_stays(text: str) -> None:
    assert Cleaner(SCRUB)(text) == text


@pytest.mark.parametrize(
    "number",
    [
        "+49 (0)30 123456-78", "+49 171 2345678", "+491712345678", "0049 171 2345678", "(+49) 171 2345678", "030 1234567",
        "0171/2345678", "0171-234 56 78", "(030) 12 34 56", "01712345678", "07131 / 12345", "+44 20 7946 0958",
        "+44 (0) 20 7946 0958", "020 7946 0958", "07700 900123", "0161 496 0000", "(555) 123-4567", "555-123-4567",
        "555.123.4567", "1-800-555-1234", "+1 (555) 123-4567", "00420 123 456 789", "+33 1 23 45 67 89",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "Tel.: {}, danke", "Tel:{}.", "({})", "ab 12.03.2024 {} 14:30 Uhr", "{} 5 €"])
def test_phone(number: str, frame: str) -> None:
    assert Cleaner(["scrub-phone"])(frame.format(number)) == frame.format("[phone]")


def test_two_phone_numbers_in_a_row() -> None:
    assert Cleaner(["scrub-phone"])("030 123456 / 0171 2345678") == "[phone] / [phone]"


@pytest.mark.parametrize(
    "text",
    [
        "am 01.02.2024 oder 01/02/2024", "2024-05-06 07:08:09", "09.04.23 10.04.23", "08.30 - 09.45 Uhr", "08:15-09:45",
        "0815-1630", "0800 - 1800", "1990-2000", "im Jahr 2024", "ICE 1234", "ICE 0123 nach Köln, RE 4, S 1",
        "1.234,56 €", "0,99 €", "50 000 Euro", "+10.000.000 €", "+15000000 €", "$1,234.50", "+48.137154, +11.576124",
        "01067 Dresden", "Gleis 12, Wagen 0123", "Ticket 49 Euro", "BahnCard 50", "ISBN 978-0-306-40615-7", "+5 Punkte",
        "10.10.2023-12.10.2023", "order 2024-05-06", "ticket ICE1234", "ticket 2nd-class", "booking number is missing",
        "Saison 2023/2024", "1 2 3 4 5 6 7 8 9 10", "order iphone15", "Deutschlandticket 2024", "DB12 ist kein IBAN",
    ],
)  # fmt: skip
def test_what_is_not_personal_stays(text: str) -> None:
    assert Cleaner(SCRUB)(text) == text
    assert Cleaner([*SCRUB, "lower"])(text) == text.lower()


@pytest.mark.parametrize(
    "number",
    [
        "DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "de89 3704 0044 0532 0130 00",
        "GB82 WEST 1234 5698 7654 32", "FR14 2004 1010 0505 0001 3M02 606", "NO93 8601 1117 947",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "IBAN {} danke", "IBAN:{}."])
def test_iban(number: str, frame: str) -> None:
    assert Cleaner(SCRUB)(frame.format(number)) == frame.format("[iban]")


@pytest.mark.parametrize("text", ["DE89 3704 0044 0532 0130 01", "XX89 3704 0044 0532 0130 00", "DE89 3704 0044"])
def test_what_fails_the_check_is_no_iban(text: str) -> None:
    assert Cleaner(["scrub-iban"])(text) == text


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("ticket no. 123456789", "ticket no. [ticket]"),
        ("my booking reference ABC123, please", "my booking reference [ticket], please"),
        ("my booking is ABC123", "my booking is [ticket]"),
        ("Auftragsnummer 4711081522", "Auftragsnummer [ticket]"),
        ("Auftrags-Nr.: 4711 0815 22 vom 12.03.2024", "Auftrags-Nr.: [ticket] vom 12.03.2024"),
        ("Buchungsnummer: 8XYZ12", "Buchungsnummer: [ticket]"),
        ("order #AB-123456", "order #[ticket]"),
        ("PNR X7YZ9Q", "PNR [ticket]"),
        ("Ticket 123456", "Ticket [ticket]"),
        ("Auftragsnummer 0171234567", "Auftragsnummer [ticket]"),
        ("BahnCard 7081 4111 2345 6789", "BahnCard [ticket]"),
    ],
)
def test_ticket(text: str, scrubbed: str) -> None:
    assert Cleaner(SCRUB)(text) == scrubbed
    assert Cleaner([*SCRUB, "lower"])(text) == scrubbed.lower()
