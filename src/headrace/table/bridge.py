"""Convert streams to tables and tables to streams.

1. A stream becomes the source of a table: the fields of its elements are columns. With a schema, columns can be computed,
   `rowtime` as metadata is the timestamp of the elements, and SOURCE_WATERMARK() keeps the watermarks of the stream.
2. A table becomes a stream that is part of the job of the StreamExecutionEnvironment. Its event time, if it has exactly one,
   becomes the timestamp of the elements; watermarks go on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.datastream import DataStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.graph.specs import SourceSpec
from headrace.graph.table_specs import FromStream, ToStream
from headrace.table.analysis.catalog_view import ColumnKind, ResolvedColumn, ResolvedSchema, ResolvedTable
from headrace.table.analysis.entries import analyse_schema
from headrace.table.analysis.tables import scan
from headrace.table.changelog_mode import ChangelogMode
from headrace.table.connectors.access import SourceAccess
from headrace.table.connectors.base import TableSource
from headrace.table.conversion import row_reader, row_writer
from headrace.table.errors import SqlValidationError
from headrace.table.schema import Schema, physical_names
from headrace.table.statements.source_texts import with_texts
from headrace.table.table import Table
from headrace.types import logical_types as t
from headrace.types.data_types import row_type_of_stream, stream_type
from headrace.types.declared_types import declared_type
from headrace.types.logical_types import RowField, RowType, TimeAttribute
from headrace.types.row import Row, RowKind
from headrace.types.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation, Types

if TYPE_CHECKING:
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.table.table_environment import StreamTableEnvironment

_NUMBERS = itertools.count()
_ROWTIME = "rowtime"


# -- streams to tables ------------------------------------------------------------------------------------------------


class StreamSource(TableSource):
    """The elements of a stream as rows of a table."""

    watermarks = True

    def __init__(self, stream: DataStream, convert: Any, time: int | None, mode: ChangelogMode) -> None:
        """`convert` makes an internal row of an element; timestamps become the column `time`."""
        self._stream, self._convert, self._time = stream, convert, time
        self.changelog_mode = mode
        self.bounded = _bounded(stream)

    def stream(self, env: StreamExecutionEnvironment, name: str) -> DataStream:
        """Return the rows, in an environment that knows the stream."""
        known = DataStream(env, self._stream.transformation_id)
        return known.beside(FromStream(self._convert, self._time), name, None)


def _bounded(stream: DataStream) -> bool:
    registry, waiting = stream.get_execution_environment().registry, [stream.transformation_id]
    while waiting:
        found = registry.get(waiting.pop())
        if isinstance(found.spec, SourceSpec) and not found.spec.source.bounded:
            return False
        waiting += found.inputs
    return True


def from_stream(t_env: StreamTableEnvironment, stream: DataStream, fields: Sequence[Any]) -> Table:
    """Return the table of a stream to which elements are only added."""
    if not fields:
        return _from(t_env, stream, None, ChangelogMode.insert_only())
    if len(fields) == 1 and isinstance(fields[0], Schema):
        return _from(t_env, stream, fields[0], ChangelogMode.insert_only())
    if all(isinstance(field, str) for field in fields):
        return _renamed(t_env, stream, list(fields))
    raise TypeMismatchError(
        "from_data_stream takes a Schema, or names of columns, after the stream",
        seen=fields[0],
        expected="a Schema or strings",
    )


def from_changes(
    t_env: StreamTableEnvironment, stream: DataStream, schema: Schema | None, mode: ChangelogMode | None
) -> Table:
    """Return the table of a stream of changes."""
    if mode is not None and not isinstance(mode, ChangelogMode):
        raise TypeMismatchError("from_changelog_stream takes a ChangelogMode", seen=mode)
    return _from(t_env, stream, schema, mode or ChangelogMode.all())


def _checked(t_env: StreamTableEnvironment, stream: object) -> DataStream:
    if not isinstance(stream, DataStream):
        raise TypeMismatchError("A DataStream is needed", seen=stream)
    if stream.get_execution_environment() is not t_env.session.env:
        raise InvalidProgramError("The stream belongs to another StreamExecutionEnvironment than the tables")
    return stream.before_keys()


def _from(t_env: StreamTableEnvironment, stream: DataStream, schema: Schema | None, mode: ChangelogMode) -> Table:
    stream = _checked(t_env, stream)
    physical, wrap = _columns_of(stream)
    resolved, record = _resolved(t_env, physical, schema)
    time = None
    metadata = [column for column in resolved.columns if column.kind is ColumnKind.METADATA]
    for column in metadata:
        if (column.metadata_key or column.name) != _ROWTIME:
            raise SqlValidationError(
                f"Invalid metadata key '{column.metadata_key or column.name}' in column '{column.name}'",
                expected=f"'{_ROWTIME}', the timestamp of the elements",
            )
        time = len(record)
    if len(metadata) > 1:
        raise SqlValidationError("Only one column can be the timestamp of the elements")
    kinds = not mode.is_insert_only
    convert = Elements(record, wrap, t_env.get_config().get_local_timezone(), kinds)
    source = StreamSource(stream, convert, time, mode)
    name = f"Unregistered_DataStream_Source_{next(_NUMBERS)}"
    return Table(scan(ResolvedTable((name,), resolved, source=SourceAccess(source))), t_env)


def _renamed(t_env: StreamTableEnvironment, stream: DataStream, names: list[str]) -> Table:
    stream = _checked(t_env, stream)
    physical, wrap = _columns_of(stream)
    known = physical.field_names()
    if set(names) <= set(known):
        record = RowType(tuple(physical.fields[known.index(name)] for name in names))
    elif len(names) <= len(known):
        record, names = physical, [*names, *known[len(names) :]]
    else:
        raise SqlValidationError("There are more names than fields in the stream", seen=", ".join(names))
    schema = ResolvedSchema(tuple(ResolvedColumn(name, field.data_type) for name, field in zip(names, record.fields)))
    convert = Elements(record, wrap, t_env.get_config().get_local_timezone(), False)
    source = StreamSource(stream, convert, None, ChangelogMode.insert_only())
    name = f"Unregistered_DataStream_Source_{next(_NUMBERS)}"
    return Table(scan(ResolvedTable((name,), schema, source=SourceAccess(source))), t_env)


def _columns_of(stream: DataStream) -> tuple[RowType, bool]:
    """Return the columns of a stream's type, and whether its elements are single values."""
    kind = stream.transformation.output_type
    if isinstance(kind, RowTypeInfo):
        return row_type_of_stream(kind), False
    if isinstance(kind, TupleTypeInfo):
        named = Types.ROW_NAMED([f"f{i}" for i in range(len(kind.get_field_types()))], kind.get_field_types())
        return row_type_of_stream(named), False
    if kind is None or kind == Types.PICKLED_BYTE_ARRAY():
        return RowType((RowField("f0", t.RawType()),)), True
    return row_type_of_stream(Types.ROW_NAMED(["f0"], [kind])), True


def _resolved(
    t_env: StreamTableEnvironment, physical: RowType, schema: Schema | None
) -> tuple[ResolvedSchema, RowType]:
    """Return the schema of the table, and the columns that elements have."""
    if schema is None:
        columns = tuple(ResolvedColumn(field.name, field.data_type) for field in physical.fields)
        return ResolvedSchema(columns), physical
    declared = schema.elements()
    names = physical_names(declared)
    if not names:
        builder = Schema.new_builder().from_row_data_type(physical).from_schema(schema)
        schema = builder.build()
        declared = schema.elements()
    session, text = t_env.session, f"CREATE TABLE t {schema}"
    found = with_texts(analyse_schema(declared, session.manager, session.functions(), text), declared, text)
    source = [column for column in found.source_columns if column.kind is ColumnKind.PHYSICAL]
    known = physical.field_names()
    raw = len(physical) == 1 and isinstance(physical.fields[0].data_type, t.RawType)
    missing = [column.name for column in source if column.name not in known]
    if missing and not raw and known != [f"f{index}" for index in range(len(known))]:
        raise SqlValidationError(
            f"Unable to find a field named '{missing[0]}' in the physical data type derived from the stream",
            expected=f"one of {', '.join(known)}",
        )
    return found, RowType(tuple(RowField(column.name, column.type) for column in source))


class Elements:
    """A picklable function: an element of a stream to an internal row.

    >>> Elements(RowType((RowField("a", t.IntType()),)), True, "UTC", False)(5)
    (5,)
    """

    def __init__(self, row_type: RowType, wrap: bool, time_zone: str, kinds: bool) -> None:
        """With `wrap`, an element that is not a row is the only value of its row."""
        self._arguments = (row_type, wrap, time_zone, kinds)
        self._wrap = wrap
        self._convert = row_writer(row_type, time_zone, kinds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments

    def __call__(self, element: Any) -> tuple[Any, ...]:
        """Convert an element."""
        if self._wrap and not isinstance(element, (Row, tuple, list)):
            element = (element,)
        return self._convert(element)


# -- tables to streams ------------------------------------------------------------------------------------------------


def _translated(t_env: StreamTableEnvironment, table: object, call: str) -> Any:
    from headrace.table.jobs import plan_settings
    from headrace.table.plan.planner import plan, translate

    if not isinstance(table, Table):
        raise TypeMismatchError(f"{call} takes a Table", seen=table)
    if table.t_env is not t_env:
        raise InvalidProgramError("The table belongs to another TableEnvironment")
    env = t_env.session.env
    number = sum(isinstance(known.spec, ToStream) for known in env.registry)  # of this job: ids must not change
    return translate(plan(table.relation, plan_settings(t_env.session)), env, f"{call}-{number}")


def _time_of(row_type: RowType) -> int | None:
    found = [
        index
        for index, kind in enumerate(row_type.field_types())
        if getattr(kind, "time_attribute", None) is TimeAttribute.ROWTIME
    ]
    if len(found) > 1:
        names = ", ".join(row_type.field_names()[index] for index in found)
        raise SqlValidationError(
            f"Found more than one rowtime field: [{names}] in the query when converting a table to a stream",
            remedy="select one of them, or cast the others to TIMESTAMP",
        )
    return found[0] if found else None


def _stream(translated: Any, convert: Any, name: str, kind: TypeInformation | None) -> DataStream:
    spec = ToStream(convert, _time_of(translated.row_type), types=(translated.row_type,))
    stream: DataStream = translated.stream.beside(spec, name, kind)
    number = sum(isinstance(known.spec, ToStream) for known in stream.get_execution_environment().registry)
    return stream.uid(f"{name}-{number}")


def _insert_only(translated: Any, call: str) -> None:
    if translated.kinds:
        raise SqlValidationError(
            f"{call} takes a table to which rows are only added, but the query also updates or deletes rows",
            remedy="use to_changelog_stream()",
        )


def _type_of(row_type: RowType) -> TypeInformation | None:
    try:
        return stream_type(_without_attributes(row_type))
    except InvalidProgramError:
        return None


def _without_attributes(row_type: RowType) -> RowType:
    fields = []
    for field in row_type.fields:
        kind = field.data_type
        if isinstance(kind, t.LocalZonedTimestampType) and not isinstance(kind, t.InstantType):
            kind = t.LocalZonedTimestampType(kind.precision, is_nullable=kind.is_nullable)
        fields.append(replace(field, data_type=kind))
    return RowType(tuple(fields))


def to_stream(t_env: StreamTableEnvironment, table: Table) -> DataStream:
    """Return the rows of a table to which rows are only added."""
    found = _translated(t_env, table, "to_data_stream")
    _insert_only(found, "to_data_stream")
    return _stream(found, RowsOut(found.row_type), "TableToDataStream", _type_of(found.row_type))


def to_changes(
    t_env: StreamTableEnvironment, table: Table, schema: Schema | None, mode: ChangelogMode | None
) -> DataStream:
    """Return the changes of a table."""
    if mode is not None and not isinstance(mode, ChangelogMode):
        raise TypeMismatchError("to_changelog_stream takes a ChangelogMode", seen=mode)
    found = _translated(t_env, table if schema is None else _selected(t_env, table, schema), "to_changelog_stream")
    if mode is not None and mode.is_insert_only:
        _insert_only(found, "to_changelog_stream with ChangelogMode.insert_only()")
    stream = _stream(found, RowsOut(found.row_type, found.kinds), "TableToChangelogStream", _type_of(found.row_type))
    if mode is not None and found.kinds and not mode.contains(RowKind.UPDATE_BEFORE):
        return stream.filter(_not_update_before)
    return stream


def _selected(t_env: StreamTableEnvironment, table: Table, schema: Schema) -> Table:
    """Return a table with the columns of a schema, cast to its types."""
    from headrace.table.analysis.inserts import sink

    found = analyse_schema(schema.elements(), t_env.session.manager, t_env.session.functions())
    return Table(sink(table.relation, ResolvedTable(("stream",), found)).input, t_env)


def _not_update_before(row: Row) -> bool:
    return row.get_row_kind() is not RowKind.UPDATE_BEFORE


def to_append(t_env: StreamTableEnvironment, table: Table, type_info: TypeInformation) -> DataStream:
    """Return the rows of a table as elements of a type."""
    found = _translated(t_env, table, "to_append_stream")
    _insert_only(found, "to_append_stream")
    kind = declared_type(type_info, "type_info")
    return _stream(found, AsElement(found.row_type, False, _is_tuple(kind), False), "TableToDataStream", kind)


def to_retractions(t_env: StreamTableEnvironment, table: Table, type_info: TypeInformation) -> DataStream:
    """Return pairs: whether a row is added, and the row."""
    found = _translated(t_env, table, "to_retract_stream")
    kind = declared_type(type_info, "type_info")
    pair = None if kind is None else Types.TUPLE([Types.BOOLEAN(), kind])
    return _stream(found, AsElement(found.row_type, found.kinds, _is_tuple(kind), True), "TableToDataStream", pair)


def _is_tuple(kind: TypeInformation | None) -> bool:
    return isinstance(kind, TupleTypeInfo)


class RowsOut:
    """A picklable function for streams: an internal row to a `Row`. See `row_reader`.

    >>> RowsOut(RowType((RowField("a", t.DateType()),)))((1,))
    Row(a=datetime.date(1970, 1, 2))
    """

    def __init__(self, row_type: RowType, kinds: bool = False) -> None:
        """Set the type of the rows."""
        self._arguments = (row_type, kinds)
        self._convert = row_reader(row_type, kinds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the type only."""
        return type(self), self._arguments

    def __call__(self, row: Any) -> Row:
        """Convert a row."""
        return self._convert(row)


class AsElement:
    """A picklable function: an internal row to an element of an append or retract stream.

    >>> AsElement(RowType((RowField("a", t.IntType()),)), True, True, True)((1, 3))
    (False, (1,))
    """

    def __init__(self, row_type: RowType, kinds: bool, as_tuple: bool, flag: bool) -> None:
        """With `flag`, an element is a pair with whether the row is added."""
        self._arguments = (row_type, kinds, as_tuple, flag)
        self._read, self._as_tuple, self._flag = row_reader(row_type, kinds), as_tuple, flag

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return type(self), self._arguments

    def __call__(self, values: Sequence[Any]) -> Any:
        """Convert a row."""
        row = self._read(values)
        added = row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
        row.set_row_kind(RowKind.INSERT if self._flag else row.get_row_kind())
        element = tuple(row) if self._as_tuple else row
        return (added, element) if self._flag else element
