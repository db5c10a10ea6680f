"""The row type that an Avro schema describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.common.data_types import DataType, DataTypes, RowType
from headrace.common.errors import InvalidProgramError, TypeMismatchError

if TYPE_CHECKING:
    from headrace.datastream.formats.avro import AvroSchema

__all__ = ["row_type_of"]

_PLAIN = {
    "string": DataTypes.STRING,
    "int": DataTypes.INT,
    "long": DataTypes.BIGINT,
    "float": DataTypes.FLOAT,
    "double": DataTypes.DOUBLE,
    "boolean": DataTypes.BOOLEAN,
    "bytes": DataTypes.BYTES,
    "fixed": DataTypes.BYTES,
    "enum": DataTypes.STRING,
}
_LOGICAL = {
    "date": DataTypes.DATE,
    "time-millis": DataTypes.TIME,
    "time-micros": DataTypes.TIME,
    "timestamp-millis": lambda: DataTypes.TIMESTAMP(3),
    "timestamp-micros": lambda: DataTypes.TIMESTAMP(6),
    "local-timestamp-millis": lambda: DataTypes.TIMESTAMP(3),
    "local-timestamp-micros": lambda: DataTypes.TIMESTAMP(6),
}


def row_type_of(schema: AvroSchema) -> RowType:
    """Give the type of the rows of a schema of records."""
    node = getattr(schema, "definition", None)
    if node is None:
        raise TypeMismatchError("An Avro schema is an AvroSchema", seen=schema, expected="AvroSchema.parse_string(...)")
    found = _type(node, {})
    if not isinstance(found, RowType):
        raise InvalidProgramError("An Avro schema of rows describes a record", seen=str(schema))
    return found


def _type(node: Any, named: dict[str, Any]) -> DataType:
    if isinstance(node, list):
        real = [part for part in node if part != "null"]
        if len(real) != 1:
            raise InvalidProgramError("A union of Avro is a type or null", seen=str(node))
        found: DataType = _type(real[0], named)
        return found.nullable() if "null" in node else found.not_null()  # type: ignore[no-any-return]
    if isinstance(node, str):
        if node in named:
            return _type(named[node], named)
        node = {"type": node}
    kind = node["type"]
    if isinstance(kind, (dict, list)):
        return _type(kind, named)
    if "name" in node:
        named[node["name"]] = node
    if "logicalType" in node and (node["logicalType"] == "decimal" or node["logicalType"] in _LOGICAL):
        return _logical(node)
    if kind == "record":
        fields = [DataTypes.FIELD(f["name"], _type(f["type"], named)) for f in node["fields"]]
        return DataTypes.ROW(fields, nullable=False)
    if kind == "array":
        return DataTypes.ARRAY(_type(node["items"], named), nullable=False)
    if kind == "map":
        return DataTypes.MAP(DataTypes.STRING(), _type(node["values"], named), nullable=False)
    if kind not in _PLAIN:
        raise InvalidProgramError("This part of an Avro schema has no type of a column", seen=str(node))
    return _PLAIN[kind]().not_null()  # type: ignore[no-any-return]


def _logical(node: Any) -> DataType:
    if node["logicalType"] == "decimal":
        return DataTypes.DECIMAL(node["precision"], node.get("scale", 0), nullable=False)
    return _LOGICAL[node["logicalType"]]().not_null()  # type: ignore[no-any-return, operator]
