"""The format `json`: one JSON object a line.

A block of lines is decoded at once by a decoder that is made for the row type. Values that this decoder refuses, such as
numbers in quotes, are rare: such a block is parsed again, line by line, with all conversions of Flink.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, BinaryIO

from headrace.table.connectors.options import Option, Options, boolean
from headrace.table.formats import times
from headrace.table.formats.base import TableFormat
from headrace.table.formats.json_values import JsonSettings, json_writer, row_reader
from headrace.table.formats.line_blocks import BadLine, LineFormat
from headrace.types import logical_types as t
from headrace.types.logical_types import DataType, RowType
from headrace.types.serialization import Encoder

_COLUMN_ROWS = 100
"""Blocks with fewer rows stay rows."""

_REMEDY = "correct the line, or set 'json.ignore-parse-errors' = 'true' to skip lines that cannot be read"


class JsonFormat(TableFormat):
    """JSON objects."""

    identifier = "json"
    options = (
        Option("fail-on-missing-field", boolean, False),
        Option("ignore-parse-errors", boolean, False),
        Option("timestamp-format.standard", str, "SQL", choices=("SQL", "ISO-8601")),
        Option("map-null-key.mode", str.upper, "FAIL", choices=("FAIL", "DROP", "LITERAL")),
        Option("map-null-key.literal", str, "null"),
        Option("encode.decimal-as-plain-number", boolean, False),
        Option("encode.ignore-null-fields", boolean, False),
        Option("decode.json-parser.enabled", boolean, True),
    )

    def reader(self, row_type: RowType, options: Options, time_zone: str) -> JsonLines:
        """Return what reads lines of JSON."""
        settings = settings_of(options)
        if settings.fail_on_missing and settings.ignore_errors:
            from headrace.table.errors import SqlValidationError

            raise SqlValidationError(
                "fail-on-missing-field and ignore-parse-errors shouldn't both be true.", remedy="set one of them"
            )
        row_reader(row_type, settings)  # refuses types that JSON cannot have
        return JsonLines(row_type, settings)

    def writer(self, row_type: RowType, options: Options, time_zone: str) -> JsonEncoder:
        """Return what writes lines of JSON."""
        return JsonEncoder(row_type, settings_of(options))


def settings_of(options: Options) -> JsonSettings:
    """Return the settings of a table."""
    return JsonSettings(
        options["fail-on-missing-field"],
        options["ignore-parse-errors"],
        options["timestamp-format.standard"] == "ISO-8601",
        options["map-null-key.mode"],
        options["map-null-key.literal"],
        options["encode.decimal-as-plain-number"],
        options["encode.ignore-null-fields"],
    )


class JsonLines(LineFormat):
    r"""Reads lines of JSON as internal rows, or as columns where many rows come at once.

    >>> rows = t.RowType((t.RowField("a", t.IntType()), t.RowField("b", t.VarCharType())))
    >>> list(JsonLines(rows).parse(b'{"a": 1, "b": "x"}\n{"b": 2}\n'))
    [(1, 'x'), (None, '2')]
    """

    def __init__(self, row_type: RowType, settings: JsonSettings | None = None) -> None:
        """Set the type of the rows."""
        self._row_type, self._settings = row_type, settings or JsonSettings()
        self._decode = None if self._settings.fail_on_missing else _fast_decoder(row_type, self._settings)
        self._read = row_reader(row_type, self._settings)
        self._codec: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), (self._row_type, self._settings)

    def parse(self, block: bytes) -> Any:
        """Return the rows of a block."""
        if self._decode is not None:
            columns = self._decode(block)
            if columns is not None:
                return self._run(columns)
        return self._one_by_one(block)

    def _run(self, columns: list[list[Any]]) -> Any:
        if not columns or len(columns[0]) < _COLUMN_ROWS:
            return list(zip(*columns))
        if self._codec is None:
            self._codec = _column_codec(self._row_type)
        if self._codec is False:
            return list(zip(*columns))
        from headrace.operators.table.batches import pyarrow

        pa = pyarrow()
        arrays = [pa.array(values, kind) for values, kind in zip(columns, self._codec.schema.types)]
        return self._codec.of_arrays(arrays)

    def _one_by_one(self, block: bytes) -> list[Any]:
        rows: list[Any] = []
        ignore, read = self._settings.ignore_errors, self._read
        for number, line in enumerate(block.split(b"\n")):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode())
                rows += [read(each) for each in value] if isinstance(value, list) else [read(value)]
            except (ValueError, RecursionError) as error:
                if not ignore:
                    shown = line.decode("utf-8", "replace")
                    raise BadLine(number, f"Failed to deserialize JSON: {error}", shown, _REMEDY) from None
        return rows


def _column_codec(row_type: RowType) -> Any:
    """Return the codec of columns, False if a column cannot be one or pyarrow is missing."""
    if find_spec("pyarrow") is None:
        return False
    from headrace.operators.table.batches import TableColumns

    flat = all(not isinstance(kind, (t.RowType, t.ArrayType, t.MapType)) for kind in row_type.field_types())
    return TableColumns(row_type) if flat else False


Decoder = Callable[[bytes], "list[list[Any]] | None"]


def _fast_decoder(row_type: RowType, settings: JsonSettings) -> Decoder | None:
    """Return the function that decodes a block to lists of values by column, None where it has to be read line by line."""
    import msgspec

    kinds = [_decoded(kind, settings) for kind in row_type.field_types()]
    if not kinds or any(kind is None for kind in kinds):
        return None
    known = [kind for kind in kinds if kind is not None]
    names = [f"c{index}" for index in range(len(known))]
    fields = [(name, python | None, None) for name, (python, _) in zip(names, known)]
    rename = dict(zip(names, row_type.field_names()))
    struct = msgspec.defstruct("Line", fields, rename=rename, gc=False)
    decoder = msgspec.json.Decoder(struct)
    columns = [_column(name, convert) for name, (_, convert) in zip(names, known)]

    def decode(block: bytes) -> list[list[Any]] | None:
        try:
            lines = decoder.decode_lines(block)
            return [column(lines) for column in columns]
        except (msgspec.MsgspecError, ValueError, OverflowError):
            return None

    return decode


def _column(name: str, convert: Callable[[Any], Any] | None) -> Callable[[list[Any]], list[Any]]:
    from operator import attrgetter

    get = attrgetter(name)
    if convert is None:
        return lambda lines: list(map(get, lines))
    return lambda lines: [None if (value := get(line)) is None else convert(value) for line in lines]


def _decoded(kind: DataType, settings: JsonSettings) -> tuple[Any, Callable[[Any], Any] | None] | None:
    """Return the Python type that the decoder checks, and a function for its values; None for types that it does not know."""
    from typing import Annotated

    import msgspec

    bits = _BITS.get(type(kind))
    if bits is not None:
        limit = 1 << (bits - 1)
        return Annotated[int, msgspec.Meta(ge=-limit, le=limit - 1)], None
    match kind:
        case t.VarCharType() | t.CharType():
            return str, None
        case t.TimestampType() | t.LocalZonedTimestampType():
            return str, times.timestamp_reader(kind, settings.iso)
        case t.TimeType():
            return str, times.time_of
    return _DECODED.get(type(kind))


_BITS: dict[type[DataType], int] = {t.TinyIntType: 8, t.SmallIntType: 16, t.IntType: 32, t.BigIntType: 64}
_DECODED: dict[type[DataType], tuple[Any, Callable[[Any], Any] | None]] = {
    t.BooleanType: (bool, None),
    t.DoubleType: (float, None),
    t.DateType: (str, times.date_of),
}


class JsonEncoder(Encoder):
    r"""Writes internal rows as lines of JSON.

    >>> rows = t.RowType((t.RowField("a", t.IntType()), t.RowField("b", t.DoubleType())))
    >>> JsonEncoder(rows).lines([(1, 1e10), (None, 2.0)])
    [b'{"a":1,"b":1.0E10}\n', b'{"a":null,"b":2.0}\n']
    """

    def __init__(self, row_type: RowType, settings: JsonSettings | None = None) -> None:
        """Set the type of the rows."""
        super().__init__()
        import msgspec

        self._row_type, self._settings = row_type, settings or JsonSettings()
        self._value = json_writer(row_type, self._settings)
        self._encode = msgspec.json.Encoder().encode

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), (self._row_type, self._settings)

    def encode(self, element: Any, stream: BinaryIO) -> None:
        """Write a row."""
        stream.write(self._encode(self._value(element)) + b"\n")

    def lines(self, elements: list[Any]) -> list[bytes]:
        """Return the lines of many rows."""
        encode, value = self._encode, self._value
        return [encode(value(element)) + b"\n" for element in elements]


FORMAT = JsonFormat()
