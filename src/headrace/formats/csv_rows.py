"""Serialization schemas of rows as lines of CSV."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.errors import BadRecordError, TypeMismatchError, shortened
from headrace.formats.csv_lines import Dialect, line_writer, one_character
from headrace.formats.csv_values import reader_of, writer_of
from headrace.types.row import named_rows
from headrace.types.serialization import DeserializationSchema, SerializationSchema
from headrace.types.typeinfo import RowTypeInfo, TypeInformation

if TYPE_CHECKING:
    from typing_extensions import Self


def _row_type(given: object) -> RowTypeInfo:
    if not isinstance(given, RowTypeInfo):
        raise TypeMismatchError("Lines of CSV need a row type", seen=given, expected="Types.ROW_NAMED(names, types)")
    return given


class _Builder:
    """The settings that both builders share."""

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = _row_type(type_info)
        self._dialect = Dialect()
        self._separator = ";"

    def set_array_element_delimiter(self, delimiter: str) -> Self:
        """Set the separator of the elements of arrays and of the fields of nested rows."""
        self._separator = delimiter
        return self

    def set_quote_character(self, c: str) -> Self:
        """Set the quote character."""
        self._dialect = replace(self._dialect, quote=one_character(c, "The quote character"))
        return self

    def set_escape_character(self, c: str) -> Self:
        """Set the escape character."""
        self._dialect = replace(self._dialect, escape=one_character(c, "The escape character"))
        return self


class CsvRowDeserializationSchema(DeserializationSchema):
    """Reads a row from a line of CSV.

    >>> from headrace.common import Types
    >>> row_type = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
    >>> CsvRowDeserializationSchema.Builder(row_type).build().deserialize(b'1,"Ada, Countess"')
    Row(id=1, name='Ada, Countess')
    """

    def __init__(
        self,
        type_info: RowTypeInfo,
        dialect: Dialect,
        separator: str = ";",
        null: str | None = None,
        comments: bool = False,
        ignore: bool = False,
    ) -> None:
        """Programs call `Builder`."""
        super().__init__()
        self._settings = (type_info, dialect, separator, null, comments, ignore)
        self._type_info, self._dialect, self._comments, self._ignore = type_info, dialect, comments, ignore
        self._names = type_info.get_field_names()
        self._fields = [reader_of(part, separator, null) for part in type_info.get_field_types()]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._settings

    def deserialize(self, message: bytes) -> Any:
        """Return the row of a message; with `set_ignore_parse_errors`, None for a line that cannot be split."""
        try:
            texts = self._texts(message.decode())
            if self._ignore:
                values = [_tolerant(read, text) for read, text in zip(self._fields, texts)]
                values += [None] * (len(self._fields) - len(texts))
            else:
                values = [read(text) for read, text in zip(self._fields, texts)]
        except ValueError as error:
            if self._ignore:
                return None
            raise BadRecordError(
                f"The message is not CSV of the declared type: {error}",
                seen=shortened(message),
                expected=repr(self._type_info),
                remedy="set_ignore_parse_errors(True) skips such messages",
            ) from None
        return named_rows(self._names, [values])[0]

    def _texts(self, text: str) -> list[str]:
        if self._comments:
            while text.startswith("#"):
                text = text.partition("\n")[2]
        if not text:
            raise ValueError("the line is empty")
        texts = self._dialect.fields(text)
        if len(texts) > len(self._fields) or (len(texts) < len(self._fields) and not self._ignore):
            raise ValueError(f"{len(self._fields)} fields expected but was {len(texts)}")
        return texts

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return self._type_info

    class Builder(_Builder):
        """Collects the parts of the schema."""

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__(type_info)
            self._null: str | None = None
            self._comments = False
            self._ignore = False

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set the delimiter of fields."""
            self._dialect = replace(self._dialect, delimiter=one_character(delimiter, "The field delimiter"))
            return self

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Set whether to skip lines that start with ``#``."""
            self._comments = allow_comments
            return self

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """Set the string for null."""
            self._null = null_literal
            return self

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Set whether to skip invalid lines; a field that is missing or has a wrong type becomes None."""
            self._ignore = ignore_parse_errors
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """Build the schema."""
            return CsvRowDeserializationSchema(
                self._type_info, self._dialect, self._separator, self._null, self._comments, self._ignore
            )


def _tolerant(read: Any, text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        return None


class CsvRowSerializationSchema(SerializationSchema):
    r"""Writes a row as a line of CSV.

    >>> from headrace.common import Row, Types
    >>> row_type = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])
    >>> CsvRowSerializationSchema.Builder(row_type).build().serialize(Row(1, "a b"))
    b'1,"a b"\n'
    """

    def __init__(
        self, type_info: RowTypeInfo, dialect: Dialect, separator: str = ";", null: str = "", line_end: str = "\n"
    ) -> None:
        """Programs call `Builder`."""
        super().__init__()
        self._settings = (type_info, dialect, separator, null, line_end)
        self._type_info = type_info
        fields = [(part, writer_of(part, separator, null)) for part in type_info.get_field_types()]
        self._line = line_writer(dialect, fields, null, line_end)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._settings

    def serialize(self, element: Any) -> bytes:
        """Return the line of a row."""
        try:
            return self._line(element).encode()
        except (TypeError, ValueError, AttributeError) as error:
            raise TypeMismatchError(
                f"Could not serialize a row as CSV: {error}", seen=element, expected=repr(self._type_info)
            ) from None

    class Builder(_Builder):
        """Collects the parts of the schema."""

        def __init__(self, type_info: TypeInformation) -> None:
            super().__init__(type_info)
            self._null = ""
            self._line_end = "\n"

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the delimiter of fields."""
            self._dialect = replace(self._dialect, delimiter=one_character(c, "The field delimiter"))
            return self

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """Set the end of lines: a line feed, a carriage return, both, or nothing."""
            if delimiter not in ("\n", "\r", "\r\n", ""):
                raise TypeMismatchError(
                    "A line of CSV must end with a line feed, a carriage return, or both", seen=delimiter
                )
            self._line_end = delimiter
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Never quote fields."""
            self._dialect = replace(self._dialect, quote=None)
            return self

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """Set the string for null."""
            self._null = s
            return self

        def build(self) -> CsvRowSerializationSchema:
            """Build the schema."""
            return CsvRowSerializationSchema(
                self._type_info, self._dialect, self._separator, self._null, self._line_end
            )
