"""Removal of HTML: tags, comments, scripts, styles and entities."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5


def _names(line: str) -> frozenset[str]:
    return frozenset(line.split())


_BLOCKS = _names(
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li main "
    "menu nav noframes noscript ol optgroup option p pre section select summary table tbody td template textarea "
    "tfoot th thead title tr ul"
)
_INLINES = _names(
    "a abbr acronym applet area audio b base basefont bdi bdo big canvas cite code col colgroup data datalist del dfn "
    "em embed font i img input ins kbd label link map mark marquee meta meter nobr object output param path picture "
    "progress q rp rt ruby s samp script slot small source span strike strong style sub sup svg time track tt u var "
    "video wbr"
)
# Prefixes of the tags that Microsoft Office writes, such as <o:p>.
_OFFICE = _names("o v w m st1")
_FLAGS = _names(
    "async autofocus autoplay checked compact controls defer disabled hidden ismap itemscope loop multiple muted "
    "nohref noresize noshade novalidate nowrap open readonly required reversed selected"
)

# Neither part of a tag may hold '<', so that a text full of '<' is read once only.
_QUOTED = r"""(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+"""
_MARKUP = re.compile(
    r"<(?:(?P<comment>!--)"
    r"|(?P<name>/?[a-z][a-z0-9]*+(?::[a-z][a-z0-9]*+)?)(?P<rest>(?:[\s/](?:" + _QUOTED + r"(?=>)|[^<>]*+))?)>"
    r"|(?:!doctype|!\[(?:if|endif)|\?xml)\b[^<>]*+>)",
    re.IGNORECASE | re.ASCII,
)
_ENDS = {name: re.compile(rf"</{name}[\s/]*+>", re.IGNORECASE) for name in ("script", "style")}

_ESCAPED_AGAIN = re.compile(r"&(?:amp;|#0{0,5}38;|#[xX]0{0,5}26;)++")
_ENTITY = re.compile(r"&(?:#[0-9]{1,9}+|#[xX][0-9a-fA-F]{1,8}+|[A-Za-z][A-Za-z0-9]{1,31}+)(?:;|(?![A-Za-z0-9=]))")


def strip_markup(text: str) -> str:
    """Remove tags, comments, scripts and styles, then decode the entities, once."""
    if "<" in text:
        text = _strip_tags(text)
    if "&" in text:
        text = _ENTITY.sub(_decode, _ESCAPED_AGAIN.sub("&", text))
    return text


def _strip_tags(text: str) -> str:
    pieces: list[str] = []
    kept = at = 0
    # An end that was once looked for in vain is not looked for again, which keeps the scan linear.
    absent: set[str] = set()
    while found := _MARKUP.search(text, at):
        at = end = found.end()
        filler = ""
        if found["comment"]:
            end = -1 if "-->" in absent else text.find("-->", end)
            if end < 0:
                absent.add("-->")
                continue
            end += 3
        elif found["name"]:
            name = found["name"].lower()
            if not _is_tag(name, found["rest"]):
                continue
            if name.lstrip("/") in _BLOCKS:
                filler = "\n"
            elif name in _ENDS and name not in absent:
                if closing := _ENDS[name].search(text, end):
                    end, filler = closing.end(), "\n"
                else:
                    absent.add(name)
        pieces += text[kept : found.start()], filler
        kept = at = end
    pieces.append(text[kept:])
    return "".join(pieces)


def _is_tag(name: str, rest: str) -> bool:
    """Tell '<b>' and '<a href=x>' from the '<name>' and the '<b and c>' that people write."""
    name = name.lstrip("/")
    if name not in _BLOCKS and name not in _INLINES and name.partition(":")[0] not in _OFFICE:
        return False
    if not rest or "=" in rest:
        return True
    return _FLAGS.issuperset(rest.replace("/", " ").lower().split())


def _decode(match: re.Match[str]) -> str:
    entity = match.group()
    if entity[1] != "#":
        return html5.get(entity[1:], entity)
    return unescape(entity).replace("\ufffd", "")
