"""The format `csv`: rows of fields, read by position."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.errors import BadRecordError
from headrace.formats.csv_files import CsvFileReader
from headrace.formats.csv_lines import Dialect
from headrace.table.connectors.options import Option, Options, boolean
from headrace.table.errors import SqlValidationError
from headrace.table.formats import times
from headrace.table.formats.base import TableFormat, unsupported_type
from headrace.types import java_parsing
from headrace.types import logical_types as t
from headrace.types.java_formatting import double_text, float_text
from headrace.types.logical_types import DataType, RowType
from headrace.types.serialization import Encoder

Read = Callable[[str], Any]
Write = Callable[[Any], str]


def _character(text: str) -> str:
    text = text.encode().decode("unicode_escape") if text.startswith("\\") and len(text) > 1 else text
    if len(text) != 1:
        raise ValueError("use one character")
    return text


class CsvFormat(TableFormat):
    """Fields with a delimiter between them."""

    identifier = "csv"
    options = (
        Option("field-delimiter", _character, ","),
        Option("disable-quote-character", boolean, False),
        Option("quote-character", _character, '"'),
        Option("allow-comments", boolean, False),
        Option("ignore-parse-errors", boolean, False),
        Option("array-element-delimiter", str, ";"),
        Option("escape-character", _character),
        Option("null-literal"),
        Option("write-bigdecimal-in-scientific-notation", boolean, True),
    )

    def reader(self, row_type: RowType, options: Options, time_zone: str) -> CsvRows:
        """Return what reads files of CSV."""
        return CsvRows(row_type, _settings(options))

    def writer(self, row_type: RowType, options: Options, time_zone: str) -> CsvEncoder:
        """Return what writes lines of CSV."""
        return CsvEncoder(row_type, _settings(options))


_REMEDY = "correct the row, or set 'csv.ignore-parse-errors' = 'true' to read such fields as NULL"


@dataclass(frozen=True)
class CsvSettings:
    """The options of the format."""

    dialect: Dialect = field(default_factory=Dialect)
    comments: bool = False
    ignore_errors: bool = False
    separator: str = ";"
    null: str | None = None
    scientific: bool = True


def _settings(options: Options) -> CsvSettings:
    unquoted = options["disable-quote-character"]
    if unquoted and "quote-character" in options:
        raise SqlValidationError(
            "Format cannot define a quote character and disabled quote character at the same time."
        )
    dialect = Dialect(
        options["field-delimiter"], None if unquoted else options["quote-character"], options["escape-character"]
    )
    return CsvSettings(
        dialect,
        options["allow-comments"],
        options["ignore-parse-errors"],
        options["array-element-delimiter"],
        options["null-literal"],
        options["write-bigdecimal-in-scientific-notation"],
    )


# -- reading ----------------------------------------------------------------------------------------------------------


def _reader(kind: DataType, settings: CsvSettings) -> Read:
    convert = _value_reader(kind, settings)
    null = settings.null
    return convert if null is None else lambda text: None if text == null else convert(text)


def _value_reader(kind: DataType, settings: CsvSettings) -> Read:
    match kind:
        case t.ArrayType(element_type=element):
            each, separator = _reader(element, settings), settings.separator
            return lambda text: tuple([each(part) for part in text.split(separator)]) if text.strip() else ()
        case t.RowType():
            fields = [_reader(part, settings) for part in kind.field_types()]
            return lambda text: tuple([read(part) for read, part in zip(fields, _parts(text, settings, len(fields)))])
        case t.DecimalType(precision=precision, scale=scale):
            fit = java_parsing.fitting(precision, scale)
            return lambda text: fit(java_parsing.decimal_number(text))
        case t.TimestampType() | t.LocalZonedTimestampType():
            return times.timestamp_reader(kind, iso=False)
        case t.BinaryType() | t.VarBinaryType():
            return lambda text: base64.b64decode(text, validate=True)
    if type(kind) not in _READERS:
        raise unsupported_type("csv", kind)
    return _READERS[type(kind)]


def _parts(text: str, settings: CsvSettings, count: int) -> list[str]:
    parts = text.split(settings.separator)
    if len(parts) != count:
        raise ValueError(f"Row length mismatch. {count} fields expected but was {len(parts)}.")
    return parts


_READERS: dict[type[DataType], Read] = {
    t.BooleanType: lambda text: text.strip().lower() == "true",
    t.TinyIntType: java_parsing.whole_in(8),
    t.SmallIntType: java_parsing.whole_in(16),
    t.IntType: java_parsing.whole_in(32),
    t.BigIntType: java_parsing.whole_in(64),
    t.FloatType: java_parsing.float32,
    t.DoubleType: java_parsing.double,
    t.CharType: str,
    t.VarCharType: str,
    t.DateType: times.date_of,
    t.TimeType: times.time_of,
    t.NullType: lambda text: None,
}


class CsvRows(FileFormat):
    """Reads files of CSV as internal rows; a quoted field may span several lines, so files are not cut."""

    def __init__(self, row_type: RowType, settings: CsvSettings) -> None:
        """Set the type of the rows."""
        self._arguments = (row_type, settings)
        self.settings, self.names = settings, row_type.field_names()
        self.readers = [_reader(kind, settings) for kind in row_type.field_types()]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments

    def open(self, part: FileRange, position: Any) -> SplitReader:
        """Return a reader that continues after `position` rows."""
        return _CsvReader(self, part.path, position or 0)


class _CsvReader(CsvFileReader):
    def __init__(self, reading: CsvRows, path: str, position: int) -> None:
        super().__init__(path, reading.settings.dialect, reading.settings.comments)
        self._format = reading
        self._start(position)

    def read(self, limit: int, now: int) -> Batch:
        """Return the next rows."""
        texts = self._texts(limit)
        values = [row for index, fields in enumerate(texts) if (row := self._row(index, fields)) is not None]
        self._done(len(texts))
        return Batch(values, more=not values and not self.finished)

    def _row(self, index: int, texts: list[str]) -> tuple[Any, ...] | None:
        """Return a row, None for an empty line or one that cannot be read and may be ignored."""
        if not texts:
            return None
        readers, ignore = self._format.readers, self._format.settings.ignore_errors
        if len(texts) != len(readers) and not ignore:
            raise self._bad(index, texts, f"Row length mismatch. {len(readers)} fields expected but was {len(texts)}.")
        row: list[Any] = []
        for name, read, text in zip(self._format.names, readers, texts):
            try:
                row.append(read(text))
            except (ValueError, ArithmeticError) as found:
                if not ignore:
                    raise self._bad(index, texts, f"Fail to deserialize at field: {name}: {found}") from found
                row.append(None)
        row += [None] * (len(readers) - len(row))
        return tuple(row)

    def _bad(self, index: int, texts: list[str], reason: str) -> BadRecordError:
        error = BadRecordError(reason, seen=texts, remedy=_REMEDY)
        return unreadable(self._path, error, f", row {self._next + index + 1}")


# -- writing ----------------------------------------------------------------------------------------------------------


def _writer(kind: DataType, settings: CsvSettings) -> Write:
    match kind:
        case t.ArrayType(element_type=element):
            each, null = _writer(element, settings), settings.null or ""
            return lambda value: settings.separator.join([null if part is None else each(part) for part in value])
        case t.RowType():
            fields, null = [_writer(part, settings) for part in kind.field_types()], settings.null or ""
            return lambda row: settings.separator.join(
                [null if part is None else write(part) for write, part in zip(fields, row)]
            )
        case t.TimestampType() | t.LocalZonedTimestampType():
            return times.timestamp_writer(kind, iso=False)
        case t.DecimalType():
            return str if settings.scientific else lambda value: format(value, "f")
        case t.BinaryType() | t.VarBinaryType():
            return lambda value: base64.b64encode(value).decode()
    if type(kind) not in _WRITERS:
        raise unsupported_type("csv", kind)
    return _WRITERS[type(kind)]


_WRITERS: dict[type[DataType], Write] = {
    t.BooleanType: json.dumps,
    t.TinyIntType: str,
    t.SmallIntType: str,
    t.IntType: str,
    t.BigIntType: str,
    t.FloatType: float_text,
    t.DoubleType: double_text,
    t.CharType: str,
    t.VarCharType: str,
    t.DateType: times.date_text,
    t.TimeType: times.time_text,
}
_QUOTABLE = (t.CharType, t.VarCharType, t.DateType, t.TimeType, t.TimestampType, t.LocalZonedTimestampType)


class CsvEncoder(Encoder):
    r"""Writes internal rows as lines of CSV.

    >>> rows = t.RowType((t.RowField("a", t.IntType()), t.RowField("b", t.VarCharType())))
    >>> CsvEncoder(rows, CsvSettings()).lines([(1, "x"), (None, "a,b")])
    [b'1,x\n', b',"a,b"\n']
    """

    def __init__(self, row_type: RowType, settings: CsvSettings) -> None:
        """Set the type of the rows."""
        super().__init__()
        self._arguments = (row_type, settings)
        self._delimiter, self._null = settings.dialect.delimiter, settings.null or ""
        protect = settings.dialect.protector()
        self._writers = [_protected(kind, _writer(kind, settings), protect) for kind in row_type.field_types()]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments

    def encode(self, element: Any, stream: BinaryIO) -> None:
        """Write a row."""
        stream.write(self.lines([element])[0])

    def lines(self, elements: list[Any]) -> list[bytes]:
        """Return the lines of many rows."""
        writers, null, delimiter = self._writers, self._null, self._delimiter
        return [
            (delimiter.join([null if v is None else write(v) for write, v in zip(writers, row)]) + "\n").encode()
            for row in elements
        ]


def _protected(kind: DataType, write: Write, protect: Write) -> Write:
    numeric = type(kind) in _WRITERS and not isinstance(kind, _QUOTABLE)
    plain = (type(kind) in _WRITERS and type(kind) not in _QUOTABLE) or isinstance(kind, t.DecimalType)
    return write if numeric or plain else lambda value: protect(write(value))


FORMAT = CsvFormat()
