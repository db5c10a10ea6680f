"""Convert an Avro schema to a row type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.data_types import DataTypes
from headrace.types.logical_types import DataType, RowType

if TYPE_CHECKING:
    from headrace.formats.avro import AvroSchema

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
_NULL = {"type": "null"}
_LOGICAL = {
    "date": DataTypes.DATE,
    "time-millis": DataTypes.TIME,
    "time-micros": DataTypes.TIME,
    "timestamp-millis": lambda: DataTypes.TIMESTAMP(3),
    "timestamp-micros": lambda: DataTypes.TIMESTAMP(6),
    "local-timestamp-millis": lambda: DataTypes.TIMESTAMP(3),
    "local-timestamp-micros": lambda: DataTypes.TIMESTAMP(6),
}


def row_type_of(schema: AvroSchema, groups: bool = False) -> RowType:
    """Return the row type of a schema of records.

    With `groups`, the columns are those of Avro records in Parquet: a union of several types is a row with a field for
    each of them, `member0` and so on, and a field that is always null has no column.
    """
    node = getattr(schema, "definition", None)
    if node is None:
        raise TypeMismatchError(
            "An Avro format needs an AvroSchema", seen=schema, expected="AvroSchema.parse_string(...)"
        )
    found = _type(node, {}, groups)
    if not isinstance(found, RowType):
        raise InvalidProgramError("An Avro schema of rows must describe a record", seen=str(schema))
    return found


def resolved(node: Any, named: dict[str, Any]) -> Any:
    """Return a part of a schema as a dict whose type is a string, or as the list of a union; `named` collects named types.

    >>> resolved("int", {}), resolved({"type": {"type": "map", "values": "int"}}, {})
    ({'type': 'int'}, {'type': 'map', 'values': 'int'})
    """
    if isinstance(node, list):
        return node
    if isinstance(node, str):
        return named.get(node) or {"type": node}
    if isinstance(node["type"], (dict, list)):
        return resolved(node["type"], named)
    if "name" in node:
        named[node["name"]] = node
    return node


def parts_of_union(node: list[Any]) -> list[Any]:
    """Return the parts of a union that are not null.

    >>> parts_of_union(["null", "int", {"type": "null"}])
    ['int']
    """
    return [part for part in node if part not in ("null", _NULL)]


def has_column(node: Any, named: dict[str, Any]) -> bool:
    """Return whether a field has a column in Parquet; a field that is always null has none.

    >>> has_column("int", {}), has_column("null", {})
    (True, False)
    """
    return bool(resolved(node, named) != _NULL)


def _type(node: Any, named: dict[str, Any], groups: bool) -> DataType:
    node = resolved(node, named)
    if isinstance(node, list):
        return _union(node, named, groups)
    kind = node["type"]
    if "logicalType" in node and (node["logicalType"] == "decimal" or node["logicalType"] in _LOGICAL):
        return _logical(node)
    if kind == "record":
        fields = [f for f in node["fields"] if not groups or has_column(f["type"], named)]
        columns = [DataTypes.FIELD(f["name"], _type(f["type"], named, groups)) for f in fields]
        return DataTypes.ROW(columns, nullable=False)
    if kind == "array":
        return DataTypes.ARRAY(_type(node["items"], named, groups), nullable=False)
    if kind == "map":
        return DataTypes.MAP(DataTypes.STRING(), _type(node["values"], named, groups), nullable=False)
    if kind not in _PLAIN:
        raise InvalidProgramError("This part of the Avro schema has no column type", seen=str(node))
    return _PLAIN[kind]().not_null()  # type: ignore[no-any-return]


def _union(node: list[Any], named: dict[str, Any], groups: bool) -> DataType:
    real = parts_of_union(node)
    if len(real) == 1:
        found = _type(real[0], named, groups)
    elif real and groups:
        members = enumerate(_type(part, named, groups) for part in real)
        found = DataTypes.ROW([DataTypes.FIELD(f"member{index}", part.nullable()) for index, part in members])
    else:
        raise InvalidProgramError("An Avro union must be one type, or one type and null", seen=str(node))
    return found.nullable() if len(real) < len(node) else found.not_null()  # type: ignore[no-any-return]


def _logical(node: Any) -> DataType:
    if node["logicalType"] == "decimal":
        return DataTypes.DECIMAL(node["precision"], node.get("scale", 0), nullable=False)
    return _LOGICAL[node["logicalType"]]().not_null()  # type: ignore[no-any-return, operator]
