"""Print rows as a table of characters, in the layout of Flink.

Widths of columns come from the data where all rows are known (SHOW, DESCRIBE), else from the types, so that a stream can
be printed row by row. A text that is too wide is cut and ends with dots.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from headrace.types import logical_types as t
from headrace.types.logical_types import DataType

MOST = 30
"""The width of columns whose values can have any width."""
NULL = "<NULL>"
_KIND = "op"
_DIGITS: dict[type[DataType], int] = {t.TinyIntType: 3, t.SmallIntType: 5, t.IntType: 10, t.BigIntType: 19}


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> display_width("abc"), display_width("表")
    (3, 2)
    """
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def type_widths(names: Sequence[str], types: Sequence[DataType], most: int = MOST) -> list[int]:
    """Return the widths of columns by their types.

    >>> type_widths(["id", "name", "ok"], [t.BigIntType(), t.VarCharType(), t.BooleanType()])
    [20, 30, 6]
    """
    return [max(display_width(name), _width(kind, most), len(NULL)) for name, kind in zip(names, types)]


def _width(kind: DataType, most: int) -> int:
    digits = _DIGITS.get(type(kind))
    if digits is not None:
        return digits + 1  # the sign
    if isinstance(kind, t.DecimalType):
        return kind.precision + 2  # the sign and the point
    if type(kind) in (t.DateType, t.BooleanType):
        return 10 if type(kind) is t.DateType else 5
    if isinstance(kind, t.TimeType):
        return 8 if kind.precision == 0 else kind.precision + 9
    if isinstance(kind, (t.TimestampType, t.LocalZonedTimestampType)):
        return 19 if kind.precision == 0 else kind.precision + 20
    return most


def data_widths(names: Sequence[str], rows: Iterable[Sequence[str]], most: int) -> list[int]:
    """Return the widths of columns by their values.

    >>> data_widths(["a"], [["xyz"], ["x"]], 30)
    [3]
    """
    widths = [display_width(name) for name in names]
    for row in rows:
        widths = [max(width, display_width(text)) for width, text in zip(widths, row)]
    return [min(width, max(most, display_width(name))) for width, name in zip(widths, names)]


def _cut(text: str, width: int) -> str:
    if display_width(text) <= width:
        return text
    kept, taken = "", 0
    for char in text:
        step = display_width(char)
        if taken + step > width - 3:
            break
        kept, taken = kept + char, taken + step
    return kept + "..."


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for text, width in zip(texts, widths):
        shown = _cut(text, width)
        cells.append(" " * (width - display_width(shown)) + shown)
    return "| " + " | ".join(cells) + " |"


def table_lines(
    names: Sequence[str],
    widths: Sequence[int],
    rows: Iterable[Sequence[str | None]],
    *,
    kinds: bool = False,
    null: str = NULL,
    out: Callable[[str], None],
) -> int:
    """Pass the lines of a table to `out` as rows arrive; return the number of rows.

    With `kinds` the first value of a row is its kind.

    >>> table_lines(["a", "b"], [3, 4], [["1", None], ["12345", "x"]], null="-", out=print)
    +-----+------+
    |   a |    b |
    +-----+------+
    |   1 |    - |
    | ... |    x |
    +-----+------+
    2 rows in set
    2
    """
    if kinds:
        names, widths = [_KIND, *names], [len(_KIND), *widths]
    border = "+-" + "-+-".join("-" * width for width in widths) + "-+"
    count = 0
    for row in rows:
        if not count:
            for line in (border, _line(names, widths), border):
                out(line)
        out(_line([null if text is None else text for text in row], widths))
        count += 1
    if count:
        out(border)
    out("Empty set" if not count else "1 row in set" if count == 1 else f"{count} rows in set")
    return count
