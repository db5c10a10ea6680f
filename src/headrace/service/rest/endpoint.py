"""Routes as data. The app, the OpenAPI document and the security tests all read the same list of routes."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from headrace.service.errors import RequestError

B = TypeVar("B")
_log = logging.getLogger("headrace.service")
_TRUTHS = {"true": True, "false": False}
_NAMES = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}


@dataclass(frozen=True)
class Field:
    """A query parameter, or a field of the body.

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
        return _NAMES[self.kind]

    def check(self, value: Any) -> Any:
        """Return the value if it has the right type, or is a string that Flink also reads as that type."""
        if isinstance(value, str) and self.kind is bool and value in _TRUTHS:
            return _TRUTHS[value]
        if isinstance(value, str) and self.kind is int and re.fullmatch("-?[0-9]{1,18}", value):
            return int(value)
        if isinstance(value, self.kind) and not (self.kind is int and isinstance(value, bool)):
            return value
        article = "an" if self.type_name[0] in "aeiou" else "a"
        raise RequestError(f"Bad request received: {self.name!r} must be {article} {self.type_name}.")


METRIC_NAMES = Field("get", summary="names of metrics, separated by commas")


@dataclass(frozen=True)
class Call:
    """A request that was checked against its endpoint: path variables, query parameters, fields of the body."""

    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    upload: tuple[str, Path] | None = None
    """The client's name for the file, and the path where it exists until the call ends."""

    def number(self, name: str, default: int, lowest: int = 0, highest: int = 2**31 - 1) -> int:
        """Return a number of the query.

        >>> Call(query={"n": "7"}).number("n", 1), Call().number("n", 1)
        (7, 1)
        """
        return _number(name, self.query[name], lowest, highest) if name in self.query else default

    def index(self, name: str) -> int:
        return _number(name, self.path[name], 0, 2**63 - 1)

    def names(self, name: str) -> list[str]:
        """Return a query parameter that is a comma-separated list.

        >>> Call(query={"get": "a,b"}).names("get")
        ['a', 'b']
        """
        return [part for part in self.query.get(name, "").split(",") if part]

    def metrics(self) -> list[str] | None:
        """Return the names of the requested metrics; None to list all names."""
        return self.names("get") if "get" in self.query else None


def _number(name: str, text: str, lowest: int, highest: int) -> int:
    digits = text[1:] if text.startswith("-") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20) or not lowest <= int(text) <= highest:
        raise RequestError(f"Bad request received: {name!r} must be a number from {lowest} to {highest}.")
    return int(text)


@dataclass(frozen=True)
class Text:
    """A response that is not JSON."""

    content: str
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class File:
    """A response with the content of a file, secrets masked."""

    path: Path


@dataclass(frozen=True)
class Endpoint(Generic[B]):
    """One method of one path. `handler` returns the JSON of the response; it may block."""

    method: str
    path: str
    handler: Callable[[B, Call], Any]
    summary: str
    query: tuple[Field, ...] = ()
    body: tuple[Field, ...] | None = None
    """The known fields; None if the route takes no body. `()` with `free_body` accepts any fields."""
    free_body: bool = False
    upload: bool = False
    status: int = 200

    @property
    def mutates(self) -> bool:
        return self.method != "GET"

    def checked_body(self, content: Any) -> dict[str, Any]:
        """Return the checked fields of a body. Unknown fields are logged and have no effect, as in Flink."""
        if not isinstance(content, dict):
            raise RequestError("Bad request received: the body must be a JSON object.")
        if self.free_body:
            return content
        known = {entry.name: entry for entry in self.body or ()}
        unknown = [name for name in content if name not in known]
        if unknown:
            _log.warning("%s %s: unknown fields: %s", self.method, self.path, repr(unknown)[:200])
        missing = [name for name, entry in known.items() if entry.required and content.get(name) is None]
        if missing:
            raise RequestError(f"Bad request received: the field {missing[0]!r} is missing.")
        return {n: known[n].check(value) for n, value in content.items() if n in known and value is not None}
