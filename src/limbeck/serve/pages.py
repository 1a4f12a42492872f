"""Pages: what a traveller writes on, and what the owner looks at."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response

from limbeck.serve.feedback import FEEDBACK, answered
from limbeck.serve.refusals import Refusal
from limbeck.serve.replies import as_html, choose_language
from limbeck.serve.server import Server
from limbeck.serve.wire import parsed

FOLDER = Path(__file__).parent / "pages"
LANGUAGES = ("en", "de")
CSS, SCRIPT = "text/css", "text/javascript"
FILES = {"feedback.css": CSS, "feedback.js": SCRIPT, "owner.css": CSS, "owner.js": SCRIPT}
# Nothing from elsewhere, nothing in line: what somebody wrote can't become a script.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
# What is said to a traveller whose form isn't answered, by status.
SENTENCES = {413: "too_long", 422: "empty", 429: "busy", 503: "busy"}
_KEY = re.compile(r"\{\{(\w+)\}\}")


def add(app: FastAPI, server: Server) -> None:
    """Add the pages."""
    if server.page:

        @app.get("/", include_in_schema=False)
        async def feedback(request: Request, lang: str | None = None) -> Response:
            return page("feedback.html", _language(request, lang))

        @app.post("/", include_in_schema=False)
        async def sent(request: Request) -> Response:
            return await _without_script(request, server)

    @app.get("/owner", include_in_schema=False)
    async def owner(request: Request, lang: str | None = None) -> Response:
        return page("owner.html", _language(request, lang))

    @app.get("/pages/{name}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in FILES:
            raise Refusal(404, "There is no such file.")
        return Response(content_of(name), media_type=FILES[name])


@lru_cache
def content_of(name: str) -> str:
    """Read a page's file."""
    return (FOLDER / name).read_text(encoding="utf-8")


@lru_cache
def words(language: str) -> dict[str, str]:
    """Give what the pages say in a language."""
    told: dict[str, str] = json.loads(content_of(f"words.{language}.json"))
    return told


def page(name: str, language: str, answer: str = "", status: int = 200, **fields: str) -> Response:
    """Fill a page with the words of a language; `answer` is HTML already, all else is escaped.

    What is filled in is not looked at again, so braces that somebody wrote stay braces.
    """
    told = {**words(language), "language": language, "good": "", "bad": "", **fields}

    def value(key: re.Match[str]) -> str:
        return answer if key[1] == "answer" else html.escape(told[key[1]])

    headers = {"content-security-policy": POLICY, "vary": "accept-language", "x-frame-options": "SAMEORIGIN"}
    return Response(_KEY.sub(value, content_of(name)), status, headers, "text/html")


def _language(request: Request, asked: str | None) -> str:
    return choose_language(request.headers.get("accept-language"), asked, LANGUAGES)


async def _without_script(request: Request, server: Server) -> Response:
    """Answer the form itself, for browsers that run no scripts."""
    try:
        given = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
    except ValueError:  # no form of ours has so many fields
        given = {}
    good, bad = (given.get(name, [""])[0].replace("\r\n", "\n") for name in ("good", "bad"))
    language = _language(request, given.get("language", [None])[0])
    status = 200
    try:
        answer = await _reply(request, server, good, bad, language)
    except Refusal as refusal:
        status = refusal.status
        told = words(language)[SENTENCES.get(status, "failed")]
        told = told.replace("{seconds}", refusal.headers.get("retry-after", "5"))
        answer = f'<p class="problem" role="alert">{html.escape(told)}</p>'
    return page("feedback.html", language, answer, status, good=good, bad=bad)


def _understood(found: Mapping[str, Any], language: str) -> str:
    """Thank, and name the categories, where nobody wrote replies."""
    told = words(language)
    sentences = [told["thanks"]]
    if found["topics"]:
        sentences.append(told["understood"].replace("{topics}", ", ".join(one["title"] for one in found["topics"])))
    return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)


async def _reply(request: Request, server: Server, good: str, bad: str, language: str) -> str:
    """Give the reply to what somebody wrote, as HTML."""
    asked = parsed(FEEDBACK, json.dumps({"good": good, "bad": bad, "language": language}).encode())
    found, reply = await answered(server, request.scope, asked, None)
    told = as_html(reply) if reply is not None else _understood(found, language)
    return f"<h2>{html.escape(words(language)['answer_title'])}</h2>\n{told}"
