"""Markup that is safe by construction: whatever isn't markup already is escaped."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Attribute = str | float | None


def element(tag: str, *inside: object, **attributes: Attribute) -> Markup:
    """Make an element; an attribute that is None is left out, and `class_` means class, `stroke_width` stroke-width."""
    told = "".join(
        f' {name.strip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{told}>{joined(*inside)}</{tag}>")


def joined(*parts: object) -> Markup:
    """Put parts together, escaped unless they are markup."""
    return Markup("".join(part if isinstance(part, Markup) else escape(str(part)) for part in parts))


def _value(value: str | float) -> str:
    """Write an attribute; a tenth of a pixel is as much as anybody sees."""
    return escape(value) if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
