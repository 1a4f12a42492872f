"""What goes over the wire: requests that are checked, and answers as the documentation shows them."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from limbeck.errors import nearest
from limbeck.serve.refusals import Refusal

Name = Annotated[str, Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
Asked = TypeVar("Asked", bound="Strict")


class Strict(BaseModel):
    """What was asked; a field that nobody knows is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class PredictRequest(Strict):
    """One text, or many."""

    text: str | None = Field(None, description="One text.")
    texts: list[str] | None = Field(None, min_length=1, description="Many texts.")
    model: Name | None = Field(None, description="A model's name; without one, the first that is served.")
    top: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Of many categories, give probabilities and thresholds of so many of the likeliest, and of those "
        "that are given; without it, of all.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> PredictRequest:
        if (self.text is None) == (self.texts is None):
            raise ValueError("give either text or texts")
        return self

    @property
    def all_texts(self) -> list[str]:
        """Its texts."""
        return self.texts if self.texts is not None else [self.text or ""]


class CategoryAnswer(BaseModel):
    """What a model says of a text: the labels whose probabilities reach their thresholds, or the likeliest class.

    `confidence` is that of the least certain category: 0.5 at its threshold, 1 where nothing could change it.
    """

    labels: list[str]
    probabilities: dict[str, Share]
    confidence: Share
    tokens: int
    truncated: bool = Field(description="Whether the text's end was not read.")


class EntityFound(BaseModel):
    """An entity: its characters from `start` to before `end`."""

    start: int
    end: int
    type: str
    text: str
    confidence: Share


class EntityAnswer(BaseModel):
    """The entities of a text."""

    entities: list[EntityFound]


class Prediction(BaseModel):
    """Answers in the order of the texts, and the model that gave all of them."""

    model: str
    version: str
    task: Literal["multilabel", "multiclass", "ner"]
    thresholds: dict[str, Share]
    answers: list[CategoryAnswer | EntityAnswer]


class FeedbackRequest(Strict):
    """What somebody writes: a text, or what was good and what was bad apart."""

    text: str = ""
    good: str = ""
    bad: str = ""
    language: Annotated[str, Field(max_length=35)] | None = None
    model: Name | None = None

    @model_validator(mode="after")
    def _says_something(self) -> FeedbackRequest:
        if not self.whole.strip():
            raise ValueError("write something in text, good or bad")
        return self

    @property
    def whole(self) -> str:
        """All that was written."""
        return "\n".join(part for part in (self.text, self.good, self.bad) if part.strip())


class Topic(BaseModel):
    """A category that was found."""

    name: str
    title: str
    probability: Share


class ReplyLink(BaseModel):
    """Where to go on."""

    title: str
    url: str


class ReplyPart(BaseModel):
    """A piece of a reply, and the categories that it is about."""

    title: str
    text: str
    links: list[ReplyLink]
    about: list[str]


class ReplyTold(BaseModel):
    """A reply: to what was found, or because nothing was, or because it isn't certain."""

    kind: Literal["found", "unsure", "nothing"]
    language: str
    parts: list[ReplyPart]


class FeedbackAnswer(BaseModel):
    """Categories and a fitting reply; `id` is there if the text was stored, which is then safe."""

    id: str | None
    model: str
    version: str
    topics: list[Topic]
    confidence: Share
    reply: ReplyTold | None


class VoteRequest(Strict):
    """Whether a reply helped; of one that didn't, the text may be told again to be looked at."""

    helped: bool
    id: Annotated[str, Field(max_length=100)] | None = None
    text: str = ""
    language: Annotated[str, Field(max_length=35)] | None = None


class VoteAnswer(BaseModel):
    """Whether the vote was stored; it is counted in any case."""

    stored: bool


class ReloadRequest(Strict):
    """Which models to load anew: all, or some; one of them perhaps from another folder of the server's machine."""

    models: list[Name] = []
    folder: Annotated[str, Field(max_length=4096)] | None = None


class ReloadAnswer(BaseModel):
    """The versions that answer now, by model, and how many workers have them."""

    versions: dict[str, str]
    workers: int


class Health(BaseModel):
    """Whether the server is up."""

    status: Literal["ok", "draining"]


class ErrorTold(BaseModel):
    """What was wrong."""

    code: str
    message: str


class ErrorAnswer(BaseModel):
    """The answer to what isn't answered."""

    error: ErrorTold


def parsed(kind: TypeAdapter[Asked], body: bytes) -> Asked:
    """Read a request's body; whatever is wrong with it is a refusal that says where."""
    try:
        return kind.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        status = 400 if first["type"] == "json_invalid" else 422
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            name = where[:60]
            raise Refusal(status, f"{name}: no such field. {nearest(name, _fields(kind))}") from None
        raise Refusal(status, f"{where}: {first['msg']}." if where else f"{first['msg']}.") from None


@cache
def _fields(kind: TypeAdapter[Any]) -> tuple[str, ...]:
    return tuple(kind.json_schema()["properties"])


def body_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """Describe a request's body for the OpenAPI document."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
