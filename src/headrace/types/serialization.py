"""Schemas that convert values to the bytes of messages or lines of files, and back.

Contains the schemas that need no format library; those of JSON, CSV, Avro and Parquet are in `headrace.formats`.
Connectors call them in tasks, so a schema must be picklable.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, BinaryIO

from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import ConfigurationError, NoJvmError, TypeMismatchError
from headrace.types.java_formatting import java_form
from headrace.types.typeinfo import TypeInformation, Types

__all__ = [
    "BulkWriter",
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowDataBulkWriterFactory",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


def _checked_charset(charset: str) -> str:
    try:
        codecs.lookup(charset)
    except LookupError:
        raise ConfigurationError("Unknown character set", seen=repr(charset), expected="e.g. UTF-8") from None
    return charset


def _no_java(java_object: object) -> None:
    if java_object is not None:
        raise NoJvmError("A schema of headrace does not wrap a Java object", remedy="write a subclass in Python")


class SerializationSchema(NoJvmObject):
    """Converts elements to the bytes of messages. Programs may implement a subclass.

    >>> SimpleStringSchema().serialize("a")
    b'a'
    """

    def __init__(self, j_serialization_schema: Any = None) -> None:
        _no_java(j_serialization_schema)

    def serialize(self, element: Any) -> bytes | None:
        """Return the bytes of an element; ``None`` means a message without a value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement serialize")


class DeserializationSchema(NoJvmObject):
    """Converts the bytes of messages to elements. Programs may implement a subclass.

    >>> SimpleStringSchema().deserialize(b"a")
    'a'
    """

    def __init__(self, j_deserialization_schema: Any = None) -> None:
        _no_java(j_deserialization_schema)

    def deserialize(self, message: bytes) -> Any:
        """Return the element of a message; ``None`` skips the message."""
        raise NotImplementedError(f"{type(self).__name__} does not implement deserialize")

    def is_end_of_stream(self, next_element: Any) -> bool:
        """Return whether the stream ends before this element."""
        return False

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return Types.PICKLED_BYTE_ARRAY()


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    r"""Strings as bytes in a character set; invalid bytes become U+FFFD.

    >>> SimpleStringSchema().serialize("ü")
    b'\xc3\xbc'
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        super().__init__()
        self._charset = _checked_charset(charset)

    def serialize(self, element: Any) -> bytes:
        """Return the bytes of a string."""
        if not isinstance(element, str):
            raise TypeMismatchError(
                "SimpleStringSchema takes strings", seen=element, expected="str", remedy="map the stream to str first"
            )
        return element.encode(self._charset, "replace")

    def deserialize(self, message: bytes) -> str:
        """Return the string of the bytes."""
        return message.decode(self._charset, "replace")

    def get_produced_type(self) -> TypeInformation:
        """Return ``Types.STRING()``."""
        return Types.STRING()


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes as they are.

    >>> ByteArraySchema().deserialize(b"a")
    b'a'
    """

    def __init__(self) -> None:
        super().__init__()

    def serialize(self, element: Any) -> bytes:
        """Return the bytes."""
        if not isinstance(element, (bytes, bytearray)):
            raise TypeMismatchError("ByteArraySchema takes bytes", seen=element, expected="bytes")
        return bytes(element)

    def deserialize(self, message: bytes) -> bytes:
        """Return the bytes."""
        return message

    def get_produced_type(self) -> TypeInformation:
        """Return the type of bytes."""
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema):
    """One field of a row, which contains bytes; for example for the key of a message.

    >>> RowFieldExtractorSchema(1).serialize(("a", b"b"))
    b'b'
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ConfigurationError(f"Field index must be non-negative, got: {field_index}")
        super().__init__()
        self._field_index = field_index

    def serialize(self, element: Any) -> bytes:
        """Return the bytes of the field; empty for ``None``."""
        value = None if element is None else element[self._field_index]
        if value is None:
            return b""
        if not isinstance(value, (bytes, bytearray)):
            raise TypeMismatchError(
                f"Field {self._field_index} of the row must contain bytes", seen=value, expected="bytes"
            )
        return bytes(value)


class Encoder:
    r"""Writes elements to a file, one after the other.

    >>> from io import BytesIO
    >>> lines = BytesIO()
    >>> Encoder.simple_string_encoder().for_type(Types.BOOLEAN()).encode(True, lines)
    >>> lines.getvalue()
    b'true\n'
    """

    def __init__(self, charset_name: str = "UTF-8", form: Callable[[Any], str] = str) -> None:
        """Create an encoder that writes an element as a string and a newline."""
        self._charset = _checked_charset(charset_name)
        self._form = form

    def encode(self, element: Any, stream: BinaryIO) -> None:
        """Write an element."""
        stream.write(f"{self._form(element)}\n".encode(self._charset, "replace"))

    def for_type(self, type_info: TypeInformation | None) -> Encoder:
        """Return an encoder that writes elements of a type as Java's sinks do."""
        return Encoder(self._charset, java_form(type_info))

    def lines(self, elements: list[Any]) -> list[bytes]:
        """Return the bytes of many elements."""
        form, charset = self._form, self._charset
        return [f"{form(element)}\n".encode(charset, "replace") for element in elements]

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """Return the encoder that writes a line for each element."""
        return Encoder(charset_name)


class BulkWriter(ABC):
    """Writes one file of a format with a header, a footer or blocks; see ``BulkWriterFactory``.

    >>> hasattr(BulkWriter, "finish")
    True
    """

    @abstractmethod
    def add_element(self, element: Any) -> None:
        """Add an element."""

    @abstractmethod
    def flush(self) -> None:
        """Write buffered elements."""

    @abstractmethod
    def finish(self) -> None:
        """Write the end of the file; the stream stays open."""


class BulkWriterFactory:
    """Creates the writers of files of a format.

    >>> BulkWriterFactory(lambda stream: None).create(None) is None
    True
    """

    def __init__(self, make: Callable[[BinaryIO], BulkWriter]) -> None:
        self._make = make

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Create the writer of one file."""
        return self._make(stream)

    def get_java_object(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError("A BulkWriterFactory has no Java object in headrace", remedy="pass the factory itself")


class RowDataBulkWriterFactory(BulkWriterFactory):
    """Creates the writers of files of rows.

    >>> RowDataBulkWriterFactory(lambda stream: None, "the row type").get_row_type()
    'the row type'
    """

    def __init__(self, make: Callable[[BinaryIO], BulkWriter], row_type: Any) -> None:
        super().__init__(make)
        self._row_type = row_type

    def get_row_type(self) -> Any:
        """Return the type of the rows."""
        return self._row_type
