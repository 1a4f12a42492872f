"""What somebody wrote, answered: its categories, a fitting reply, and an id if it is kept."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from limbeck.serve.guard import Scope
from limbeck.serve.replies import Reply, choose_language
from limbeck.serve.server import Server
from limbeck.serve.shelf import DIGITS
from limbeck.serve.wire import FeedbackRequest

FEEDBACK = TypeAdapter(FeedbackRequest)


async def answered(
    server: Server, scope: Scope, asked: FeedbackRequest, accepted: str | None
) -> tuple[dict[str, Any], Reply | None]:
    """Give the answer as plain values, and the reply in it; a text that has an id then is safe.

    `accepted` is the header of that name, for who asks for no language.
    """
    [answer] = await server.answer(scope, server.model(asked.model), [asked.whole])
    titles, reply = answer.model.titles, None
    if server.replies is not None:
        language = choose_language(accepted, asked.language, server.replies.languages)
        reply = server.replies.choose(answer.labels, titles, answer.clear, language)
    kept = await server.recorder.feedback(asked.whole, answer, asked.language) if server.recorder is not None else None
    sure = round(answer.sure, DIGITS)
    likely = answer.told.get("probabilities", {})
    told = {
        "id": kept,
        "model": answer.model.name,
        "version": answer.model.version,
        "topics": [
            {"name": name, "title": titles.get(name, name), "probability": likely.get(name, sure)}
            for name in answer.labels
        ],
        "confidence": sure,
        "reply": reply.as_dict() if reply is not None else None,
    }
    return told, reply
