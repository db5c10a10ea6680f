"""Split a line of CSV into fields, and join strings to a line.

Decides quoting only; `csv_values` converts the fields.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.types.typeinfo import BasicType, BasicTypeInfo, TypeInformation

_LONGEST_PLAIN = 24
_BACKSLASH = "\\"
_QUOTABLE = (BasicType.STRING, BasicType.CHAR, BasicType.INSTANT)


def one_character(text: object, what: str) -> str:
    """Check that a setting is one character.

    >>> one_character(";", "The field delimiter")
    ';'
    """
    if not isinstance(text, str) or len(text) != 1:
        raise InvalidProgramError(f"{what} must be one character", seen=text)
    return text


@dataclass(frozen=True)
class Dialect:
    """The delimiter, quote and escape characters.

    >>> Dialect().fields('1,"a,b"'), Dialect().protector()("a,b")
    (['1', 'a,b'], '"a,b"')
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None

    def fields(self, text: str) -> list[str]:
        """Split the first line of a string; a quoted field may span several lines."""
        if (self.quote is None or self.quote not in text) and (self.escape is None or self.escape not in text):
            return text.split("\n", 1)[0].rstrip("\r").split(self.delimiter)
        try:
            return next(iter(self.reader(io.StringIO(text, newline=""))), [])
        except csv.Error as error:
            raise ValueError(str(error)) from None

    def reader(self, lines: Iterable[str]) -> Any:
        """Return a reader of many lines."""
        settings: dict[str, Any] = {"delimiter": self.delimiter, "escapechar": self.escape, "strict": True}
        if self.quote is None:
            return csv.reader(lines, quoting=csv.QUOTE_NONE, **settings)
        return csv.reader(lines, quotechar=self.quote, **settings)

    def protector(self, line_end: str = "\n") -> Callable[[str], str]:
        r"""Return the function that quotes strings if needed, with the rule of Flink's writer.

        It quotes strings with the escape character (a backslash if there is none) or with a character that is not above
        delimiter, quote and line end in Unicode, and all that are longer than 24 characters.

        >>> protect = Dialect(";").protector()
        >>> protect("World"), protect("World-1"), protect("a" * 25)
        ('World', '"World-1"', '"aaaaaaaaaaaaaaaaaaaaaaaaa"')
        """
        quote, escape = self.quote, self.escape
        if quote is None:
            return str
        highest = max(self.delimiter + quote + line_end)
        needs_quotes = re.compile(f"[\0-{re.escape(highest)}{re.escape(escape or _BACKSLASH)}]").search

        def protect(text: str) -> str:
            if _java_length(text) <= _LONGEST_PLAIN and not needs_quotes(text):
                return text
            if escape is not None:
                text = text.replace(escape, escape + escape)
            return quote + text.replace(quote, quote + quote) + quote

        return protect


def _java_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def line_writer(
    dialect: Dialect, fields: Sequence[tuple[TypeInformation, Callable[[Any], str]]], null: str, line_end: str
) -> Callable[[Sequence[Any]], str]:
    r"""Return the function that converts values to a line; numbers, booleans and nulls are never quoted.

    >>> from headrace.common import Types
    >>> write = line_writer(Dialect(";"), [(Types.INT(), str), (Types.STRING(), str)], "", "\n")
    >>> write([7, "7"]), write([7, None])
    ('7;"7"\n', '7;\n')
    """
    protect = dialect.protector(line_end)
    writers = [_field_writer(kind, write, protect, null) for kind, write in fields]

    def line(values: Sequence[Any]) -> str:
        if len(values) != len(writers):
            raise ValueError(f"{len(writers)} fields expected but was {len(values)}")
        return dialect.delimiter.join([write(value) for write, value in zip(writers, values)]) + line_end

    return line


def _field_writer(
    kind: TypeInformation, write: Callable[[Any], str], protect: Callable[[str], str], null: str
) -> Callable[[Any], str]:
    if isinstance(kind, BasicTypeInfo) and kind.basic_type not in _QUOTABLE:
        return lambda value: null if value is None else write(value)
    return lambda value: null if value is None else protect(write(value))
