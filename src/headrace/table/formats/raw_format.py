"""The format `raw`: a record is one value without any structure; in files, a line."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from typing import Any, BinaryIO

from headrace.table.connectors.options import Option, Options
from headrace.table.errors import SqlValidationError
from headrace.table.formats.base import TableFormat, unsupported_type
from headrace.table.formats.line_blocks import BadLine, LineFormat
from headrace.types import logical_types as t
from headrace.types.logical_types import DataType, RowType
from headrace.types.serialization import Encoder

_CODES: dict[type[DataType], str] = {
    t.BooleanType: "?",
    t.TinyIntType: "b",
    t.SmallIntType: "h",
    t.IntType: "i",
    t.BigIntType: "q",
    t.FloatType: "f",
    t.DoubleType: "d",
}


def _charset(text: str) -> str:
    try:
        return codecs.lookup(text).name
    except LookupError:
        raise ValueError("the charset is unknown") from None


class RawFormat(TableFormat):
    """Single values."""

    identifier = "raw"
    options = (
        Option("charset", _charset, "utf-8"),
        Option("endianness", str, "big-endian", choices=("big-endian", "little-endian")),
    )

    def reader(self, row_type: RowType, options: Options, time_zone: str) -> RawLines:
        """Return what reads a value from each line."""
        return RawLines(_only(row_type), options["charset"], options["endianness"] == "big-endian")

    def writer(self, row_type: RowType, options: Options, time_zone: str) -> RawEncoder:
        """Return what writes a value to each line."""
        return RawEncoder(_only(row_type), options["charset"], options["endianness"] == "big-endian")


def _only(row_type: RowType) -> DataType:
    if len(row_type.fields) != 1:
        raise SqlValidationError(
            "The 'raw' format only supports single physical column.", seen=", ".join(row_type.field_names())
        )
    return row_type.fields[0].data_type


def _decoder(kind: DataType, charset: str, big: bool) -> Callable[[bytes], Any]:
    if isinstance(kind, (t.VarCharType, t.CharType)):
        return lambda data: data.decode(charset, "replace")
    if isinstance(kind, (t.VarBinaryType, t.BinaryType)):
        return bytes
    layout = _layout(kind, big)
    return lambda data: layout.unpack(data)[0]


def _layout(kind: DataType, big: bool) -> struct.Struct:
    if type(kind) not in _CODES:
        raise unsupported_type("raw", kind)
    return struct.Struct((">" if big else "<") + _CODES[type(kind)])


class RawLines(LineFormat):
    r"""Reads each line as a value.

    >>> RawLines(t.VarCharType()).parse(b"a,b\n\nc")
    [('a,b',), ('',), ('c',)]
    """

    def __init__(self, kind: DataType, charset: str = "utf-8", big: bool = True) -> None:
        """Set the type of the values."""
        self._arguments = (kind, charset, big)
        self._decode = _decoder(kind, charset, big)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments

    def parse(self, block: bytes) -> list[tuple[Any, ...]]:
        """Return a row for each line."""
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        rows = []
        for number, line in enumerate(lines):
            try:
                rows.append((self._decode(line.removesuffix(b"\r")),))
            except (struct.error, ValueError) as error:
                raise BadLine(number, str(error), repr(line)) from None
        return rows


class RawEncoder(Encoder):
    r"""Writes each value as a line.

    >>> RawEncoder(t.VarCharType()).lines([("a",), (None,)])
    [b'a\n', b'\n']
    """

    def __init__(self, kind: DataType, charset: str = "utf-8", big: bool = True) -> None:
        """Set the type of the values."""
        super().__init__()
        self._arguments = (kind, charset, big)
        if isinstance(kind, (t.VarCharType, t.CharType)):
            self._bytes: Callable[[Any], bytes] = lambda value: value.encode(charset, "replace")
        elif isinstance(kind, (t.VarBinaryType, t.BinaryType)):
            self._bytes = bytes
        else:
            self._bytes = _layout(kind, big).pack

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments

    def encode(self, element: Any, stream: BinaryIO) -> None:
        """Write a value."""
        stream.write(self.lines([element])[0])

    def lines(self, elements: list[Any]) -> list[bytes]:
        """Return the lines of many values; a null is an empty line."""
        return [(b"" if value is None else self._bytes(value)) + b"\n" for (value,) in elements]


FORMAT = RawFormat()
