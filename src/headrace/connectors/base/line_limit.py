"""How long a line may be: a file or a socket without line ends must not fill the memory of its reader.

Decides the limit, and what is said of a line beyond it. Used by the readers of lines.
"""

from __future__ import annotations

from typing import IO

from headrace.errors import LineTooLongError

MAX_LINE_BYTES = 256 << 20


def line_too_long(where: str) -> LineTooLongError:
    """Make the error of a line that has no end within the limit.

    >>> print(line_too_long("orders.txt from byte 17"))
    A line has more than 256 megabytes [LINE_TOO_LONG]
      seen:     orders.txt from byte 17
      remedy:   check what ends a line there; read records of that size as a file of their own format, e.g. Parquet
    """
    return LineTooLongError(
        f"A line has more than {MAX_LINE_BYTES >> 20} megabytes",
        seen=where,
        remedy="check what ends a line there; read records of that size as a file of their own format, e.g. Parquet",
    )


def first_line(file: IO[bytes], path: str, start: int) -> int:
    """Return where the first line at or after the byte `start` of a file begins."""
    if not start:
        return 0
    file.seek(start - 1)
    before = file.readline(MAX_LINE_BYTES + 1)
    if len(before) > MAX_LINE_BYTES:
        raise line_too_long(f"{path} from byte {start - 1}")
    return start - 1 + len(before)
