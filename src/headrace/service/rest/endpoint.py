"""What a route is: data. The app, the OpenAPI document and the tests of security all read the same list of them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from headrace.service.errors import RequestError

__all__ = ["Call", "Endpoint", "Field", "File", "Text"]

B = TypeVar("B")
_log = logging.getLogger("headrace.service")
_TRUTHS = {"true": True, "false": False}
_NAMES = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}


@dataclass(frozen=True)
class Field:
    """A parameter of the query, or a field of the body.

    >>> Field("drain", bool).check("yes")
    Traceback (most recent call last):
    ...
    headrace.service.errors.RequestError: Bad request received: 'drain' must be a boolean. [REQUEST]
    >>> Field("drain", bool).check("true"), Field("parallelism", int).check("4")
    (True, 4)
    """

    name: str
    kind: type = str
    summary: str = ""
    required: bool = False

    @property
    def type_name(self) -> str:
        """The type as JSON schema names it."""
        return _NAMES[self.kind]

    def check(self, value: Any) -> Any:
        """The value, if it has the right type, or is a text that says it, as Flink reads them too."""
        if isinstance(value, str) and self.kind is bool and value in _TRUTHS:
            return _TRUTHS[value]
        if isinstance(value, str) and self.kind is int and re.fullmatch("-?[0-9]{1,18}", value):
            return int(value)
        if isinstance(value, self.kind) and not (self.kind is int and isinstance(value, bool)):
            return value
        article = "an" if self.type_name[0] in "aeiou" else "a"
        raise RequestError(f"Bad request received: {self.name!r} must be {article} {self.type_name}.")


@dataclass(frozen=True)
class Call:
    """A request, already checked against its endpoint: names of the path, parameters of the query, fields of the body."""

    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    upload: tuple[str, Path] | None = None
    """The name that the client gave the file, and where it lies until the call ends."""

    def number(self, name: str, default: int, lowest: int = 0, highest: int = 2**31 - 1) -> int:
        """A number of the query.

        >>> Call(query={"n": "7"}).number("n", 1), Call().number("n", 1)
        (7, 1)
        """
        return _number(name, self.query[name], lowest, highest) if name in self.query else default

    def index(self, name: str) -> int:
        """A number of the path."""
        return _number(name, self.path[name], 0, 2**63 - 1)

    def names(self, name: str) -> list[str]:
        """A parameter of the query that is a list with commas.

        >>> Call(query={"get": "a,b"}).names("get")
        ['a', 'b']
        """
        return [part for part in self.query.get(name, "").split(",") if part]


def _number(name: str, text: str, lowest: int, highest: int) -> int:
    digits = text[1:] if text.startswith("-") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20) or not lowest <= int(text) <= highest:
        raise RequestError(f"Bad request received: {name!r} must be a number from {lowest} to {highest}.")
    return int(text)


@dataclass(frozen=True)
class Text:
    """An answer that is not JSON."""

    content: str
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class File:
    """An answer that is the content of a file, with secrets masked."""

    path: Path


@dataclass(frozen=True)
class Endpoint(Generic[B]):
    """One verb on one path. `handler` gives the JSON of the answer; it may block."""

    method: str
    path: str
    handler: Callable[[B, Call], Any]
    summary: str
    query: tuple[Field, ...] = ()
    body: tuple[Field, ...] | None = None
    """The known fields; None if the route takes no body. `()` with `free_body` takes any fields."""
    free_body: bool = False
    upload: bool = False
    status: int = 200

    @property
    def mutates(self) -> bool:
        """Whether it changes anything."""
        return self.method != "GET"

    def checked_body(self, content: Any) -> dict[str, Any]:
        """The fields of a body. Those that are not known change nothing, as in Flink; the log tells of them."""
        if not isinstance(content, dict):
            raise RequestError("Bad request received: the body must be a JSON object.")
        if self.free_body:
            return content
        known = {entry.name: entry for entry in self.body or ()}
        unknown = [name for name in content if name not in known]
        if unknown:
            _log.warning("%s %s: fields that are not known: %s", self.method, self.path, repr(unknown)[:200])
        missing = [name for name, entry in known.items() if entry.required and content.get(name) is None]
        if missing:
            raise RequestError(f"Bad request received: the field {missing[0]!r} is missing.")
        return {n: known[n].check(value) for n, value in content.items() if n in known and value is not None}
