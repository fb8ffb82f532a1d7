"""Messages of a page, over HTTP and on a socket. Anything of another form never reaches a game."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from beamzero.core.errors import BadInput
from beamzero.web.limits import Limits

Name = Annotated[str, Field(min_length=1, max_length=200)]
MoveName = Annotated[str, Field(min_length=1, max_length=40)]
Ply = Annotated[int, Field(ge=0, le=100_000)]
Request = Annotated[int, Field(ge=0, le=2**53)]
Variation = Annotated[list[MoveName], Field(max_length=Limits.variation)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ClockWish(_Strict):
    """Minutes for the whole game, and seconds added for each move."""

    minutes: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]
    increment: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = 0.0


class NewTable(_Strict):
    """A game to begin, from its first position, from `position` or after `moves`; or as `record` says."""

    # The name stands in the OpenAPI document, so it stays.

    game: Name
    seats: Annotated[list[Name], Field(min_length=2, max_length=2)]
    clock: ClockWish | None = None
    moves: Annotated[list[MoveName], Field(max_length=Limits.moves)] = []
    position: Annotated[str, Field(max_length=500)] | None = None
    record: Annotated[str, Field(max_length=200_000)] | None = None


class MoveMessage(_Strict):
    type: Literal["move"]
    ply: Ply
    move: MoveName


class PlainMessage(_Strict):
    type: Literal["undo", "resign", "swap", "pause", "go"]


class LookMessage(_Strict):
    type: Literal["look"]
    request: Request
    ply: Ply
    variation: Variation = []


class AnalyseMessage(_Strict):
    type: Literal["analyse"]
    request: Request
    ply: Ply
    variation: Variation = []
    agent: Name


class ReviewMessage(_Strict):
    type: Literal["review"]
    request: Request
    agent: Name


Message = MoveMessage | PlainMessage | LookMessage | AnalyseMessage | ReviewMessage

_MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def read_message(text: str) -> Message:
    """Read a message; BadInput says in one line why `text` is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("a message must be JSON") from None
    if not isinstance(found, dict):
        raise BadInput("a message must be a JSON object with a type")
    try:
        return _MESSAGE.validate_python(found)
    except ValidationError as error:
        raise BadInput(first_problem(error.errors())) from None


def request_of(text: str) -> int | None:
    """Find the number of the request in a text that may be anything."""
    try:
        number = json.loads(text)["request"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 2**53 else None


def first_problem(errors: Any) -> str:
    """Return the first problem of a message, in one line."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return f"{where}: {first['msg']}" if where else str(first["msg"])
