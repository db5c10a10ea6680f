import pickle
from io import BytesIO

import pytest

from headrace.common import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    Row,
    SerializationSchema,
    SimpleStringSchema,
    Types,
)
from headrace.common.errors import ConfigurationError, NoJvmError, TypeMismatchError
from headrace.common.io import InputFormat
from headrace.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory, RowFieldExtractorSchema
from headrace.common.serializer import TypeSerializer, VoidNamespaceSerializer


def test_texts():
    schema = pickle.loads(pickle.dumps(SimpleStringSchema()))
    assert schema.deserialize(schema.serialize("ü😀")) == "ü😀"
    assert schema.deserialize(b"\xff") == "\ufffd"
    assert SimpleStringSchema("ISO-8859-1").serialize("ü€") == b"\xfc?"
    assert schema.get_produced_type() == Types.STRING()
    assert schema.is_end_of_stream("a") is False
    with pytest.raises(TypeMismatchError, match="map the stream"):
        schema.serialize(5)
    with pytest.raises(ConfigurationError, match="klingon"):
        SimpleStringSchema("klingon")


def test_bytes():
    assert ByteArraySchema().serialize(bytearray(b"a")) == b"a"
    assert ByteArraySchema().get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())
    with pytest.raises(TypeMismatchError):
        ByteArraySchema().serialize("a")


def test_fields_of_rows():
    schema = RowFieldExtractorSchema(1)
    assert schema.serialize(Row(0, b"k")) == b"k"
    assert schema.serialize(Row(0, None)) == b""
    with pytest.raises(TypeMismatchError):
        schema.serialize(Row(0, "k"))
    with pytest.raises(ValueError, match="negative"):
        RowFieldExtractorSchema(-1)


def test_own_schemas():
    class Lengths(SerializationSchema, DeserializationSchema):
        def serialize(self, element):
            return bytes([len(element)])

    assert Lengths().serialize("abc") == b"\x03"
    with pytest.raises(NotImplementedError, match="Lengths"):
        Lengths().deserialize(b"")
    with pytest.raises(NoJvmError):
        SerializationSchema(object())


def test_encoders_write_lines_as_print_shows_them():
    stream = BytesIO()
    encoder = Encoder.simple_string_encoder()
    encoder.encode((1, "a"), stream)
    encoder.for_type(Types.TUPLE([Types.INT(), Types.STRING()])).encode((1, "a"), stream)
    assert stream.getvalue() == b"(1, 'a')\n(1,a)\n"
    with pytest.raises(ConfigurationError):
        Encoder.simple_string_encoder("klingon")


def test_factories():
    assert BulkWriterFactory(lambda stream: stream.getvalue()).create(BytesIO(b"x")) == b"x"
    assert RowDataBulkWriterFactory(print, "rows").get_row_type() == "rows"
    for java in (BulkWriterFactory(print), InputFormat()):
        with pytest.raises(NoJvmError):
            java.get_java_object()


class Prefix(TypeSerializer[str]):
    def __init__(self, prefix):
        self.prefix = prefix

    def serialize(self, element, stream):
        stream.write((self.prefix + element).encode())

    def deserialize(self, stream):
        return stream.read().decode().removeprefix(self.prefix)


def test_serializers():
    stream = BytesIO()
    Prefix(">").serialize("a", stream)
    stream.seek(0)
    assert Prefix(">").deserialize(stream) == "a"
    assert Prefix(">") == Prefix(">") != Prefix("<")
    assert hash(Prefix(">")) == hash(Prefix(">"))
    assert repr(VoidNamespaceSerializer()) == "VoidNamespaceSerializer()"
    with pytest.raises(TypeError):
        TypeSerializer()
