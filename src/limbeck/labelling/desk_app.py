"""The annotators' page and what it asks for, over HTTP."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from limbeck.annotate.asked import Answer, Task
from limbeck.annotate.desk import Desk
from limbeck.annotate.texts import storable
from limbeck.errors import AnswerLate, AnswerRefused, LimbeckError, StoreBusy, TextRefused
from limbeck.labelling.questions import Asked
from limbeck.labelling.status import Learning, progress_of

FOLDER = Path(__file__).parent / "pages"
FILES = {"annotate.css": "text/css", "annotate.js": "text/javascript"}
# Nothing from elsewhere, nothing in line: what somebody wrote can't become a script.
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
STATUSES: dict[type[LimbeckError], int] = {AnswerLate: 409, AnswerRefused: 422, TextRefused: 422, StoreBusy: 503}
MOST_BYTES = 2_000_000
LOCAL = frozenset(("localhost", "127.0.0.1", "[::1]"))

Name = Annotated[str, Field(min_length=1, max_length=200)]
Many = Annotated[int, Field(ge=1, le=20)]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    annotator: Name


class NextAsked(_Asked):
    """Who wants how many texts on the screen and behind it."""

    count: Many = 3


class AnswerGiven(NextAsked):
    """What somebody said of a text; a yes or no, names of categories, one name, or spans."""

    id: Name
    verdict: Literal["label", "skip", "don't know"]
    value: Any = None
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


def make_app(desk: Desk, asked: Asked, learning: Learning, show_guess: bool, key: str = "") -> FastAPI:
    """Make the application; with a `key`, only who sends it is answered, otherwise only this machine's own browsers."""
    app = FastAPI(title="Limbeck, annotating", docs_url=None, redoc_url=None, openapi_url=None)
    _add_guard(app, key)
    _add_files(app)

    @app.get("/api/question")
    def question() -> dict[str, Any]:
        shown = zip(asked.question.categories, asked.titles, strict=True)
        return {
            "mode": asked.question.mode,
            "name": asked.name,
            "categories": [{"name": name, "title": title} for name, title in shown],
            "show_guess": show_guess,
        }

    @app.post("/api/next")
    def following(told: NextAsked) -> dict[str, Any]:
        tasks = desk.next(told.annotator, told.count)
        if len(tasks) < told.count:
            learning.running_out()
        return {"tasks": [_shown(task, show_guess) for task in tasks]}

    @app.post("/api/answer")
    def answer(told: AnswerGiven) -> dict[str, Any]:
        given = Answer(told.id, told.annotator, told.verdict, told.value, told.seconds, show_guess)
        number = desk.answer(given)
        learning.answered()
        return {"number": number, **following(NextAsked(annotator=told.annotator, count=told.count))}

    @app.post("/api/undo")
    def undo(told: _Asked) -> dict[str, Any]:
        task = desk.undo(told.annotator)
        return {"task": None if task is None else _shown(task, show_guess)}

    @app.post("/api/release")
    def release(told: _Asked) -> dict[str, Any]:
        return {"released": desk.release(told.annotator)}

    @app.get("/api/progress")
    def progress(annotator: str = "") -> dict[str, Any]:
        return asdict(progress_of(desk, learning, annotator.strip() or None))

    @app.post("/api/learn")
    def learn() -> dict[str, Any]:
        return {"started": learning.start()}

    return app


def _add_guard(app: FastAPI, key: str) -> None:
    @app.middleware("http")
    async def guard(request: Request, call: Any) -> Response:  # noqa: ANN401 - Starlette's own type is private
        response: Response = _refusal(request, key) or await call(request)
        response.headers.update(HEADERS)
        return response

    @app.exception_handler(LimbeckError)
    async def told(_: Request, error: LimbeckError) -> Response:
        return _error(STATUSES.get(type(error), 500), error.code, f"{error.message} {error.fix or ''}".strip())

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return _error(error.status_code, AnswerRefused.code, f"{error.detail}.")

    @app.exception_handler(RequestValidationError)
    async def wrong(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return _error(422, AnswerRefused.code, f"'{place}': {first['msg']}.")


def _add_files(app: FastAPI) -> None:
    @app.get("/")
    def page() -> Response:
        return Response(_content("annotate.html"), media_type="text/html")

    @app.get("/pages/{name}")
    def file(name: str) -> Response:
        if name not in FILES:
            return _error(404, AnswerRefused.code, "There is no such file.")
        return Response(_content(name), media_type=FILES[name])


@lru_cache
def _content(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _shown(task: Task, show_guess: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"id": task.public_id, "text": task.text, "strategy": task.strategy}
    if show_guess and task.guess:
        told["guess"] = task.guess
    if task.verdict is not None:
        told |= {"verdict": task.verdict, "given": _given(task.given)}
    return told


def _given(value: Any) -> Any:  # noqa: ANN401 - as a judgement holds it
    return value["labels"] if isinstance(value, Mapping) else value


def _refusal(request: Request, key: str) -> Response | None:
    """Refuse what another site's page could send, and who has no key; pages themselves hold nothing secret."""
    host = request.headers.get("host", "")
    if not key and host.rpartition(":")[0] not in LOCAL and host not in LOCAL:
        return _error(403, AnswerRefused.code, "Without a key, only browsers on this machine are answered.")
    if not request.url.path.startswith("/api/"):
        return None
    if request.method == "POST" and not request.headers.get("content-type", "").startswith("application/json"):
        return _error(415, AnswerRefused.code, "Send JSON.")
    size = request.headers.get("content-length", "")
    if request.method == "POST" and not size.isdecimal():
        return _error(411, AnswerRefused.code, "Say how long the request is.")
    if size.isdecimal() and int(size) > MOST_BYTES:
        return _error(413, AnswerRefused.code, f"An answer may have {MOST_BYTES:,} bytes.")
    sent = request.headers.get("authorization", "").removeprefix("Bearer ")
    if key and not hmac.compare_digest(sent.encode(), key.encode()):
        return _error(401, AnswerRefused.code, "The key is missing or wrong.")
    return None


def _error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": storable(message)}}, status)
