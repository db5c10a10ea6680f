"""How a line of CSV is cut into fields, and how texts become a line.

Decides quoting only; what the fields mean is in `csv_values`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from headrace.common.errors import InvalidProgramError

__all__ = ["Dialect", "one_character"]


def one_character(text: object, what: str) -> str:
    """Check that a setting is one character.

    >>> one_character(";", "The field delimiter")
    ';'
    """
    if not isinstance(text, str) or len(text) != 1:
        raise InvalidProgramError(f"{what} is one character", seen=text)
    return text


@dataclass(frozen=True)
class Dialect:
    """What separates and protects fields.

    >>> Dialect().fields('1,"a,b"'), Dialect().line(["1", "a,b"])
    (['1', 'a,b'], '1,"a,b"')
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None

    def fields(self, text: str) -> list[str]:
        """Cut the first line of a text; a quoted field may go over several lines."""
        if (self.quote is None or self.quote not in text) and (self.escape is None or self.escape not in text):
            return text.split("\n", 1)[0].rstrip("\r").split(self.delimiter)
        try:
            return next(iter(self.reader(io.StringIO(text, newline=""))), [])
        except csv.Error as error:
            raise ValueError(str(error)) from None

    def reader(self, lines: Iterable[str]) -> Any:
        """Give a reader of many lines."""
        settings: dict[str, Any] = {"delimiter": self.delimiter, "escapechar": self.escape, "strict": True}
        if self.quote is None:
            return csv.reader(lines, quoting=csv.QUOTE_NONE, **settings)
        return csv.reader(lines, quotechar=self.quote, **settings)

    def line(self, texts: list[str | None], null: str = "") -> str:
        """Put fields together; a text is quoted if it has a character that is below ``-`` or special, as in Flink."""
        return self.delimiter.join([null if t is None else self._protected(t) for t in texts])

    def _protected(self, text: str) -> str:
        quote, escape = self.quote, self.escape
        if quote is None or not text:
            return text
        special = self.delimiter + quote + (escape or "\\")
        if any(c < "-" or c in special for c in text):
            if escape is not None:
                text = text.replace(escape, escape + escape)
            return quote + text.replace(quote, quote + quote) + quote
        return text
