"""Check the arguments of `DataStream.map_columns` and `DataStream.filter_columns` and build their specifications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.formats.arrow_rows import row_type
from headrace.formats.row_columns import RowColumns
from headrace.graph.specs import FilterColumns, MapColumns
from headrace.types.data_types import row_type_of_stream, stream_type
from headrace.types.logical_types import RowType
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.streams.partitioned_stream import PartitionedStream


def mapped_columns(stream: PartitionedStream, func: Any, output_type: RowType) -> tuple[MapColumns, TypeInformation]:
    """Return the specification of `map_columns` and the type of its rows."""
    given = RowColumns(row_type(output_type, "map_columns"))
    return MapColumns(_checked(func, "map_columns"), _columns_of(stream), given), stream_type(output_type)


def filtered_columns(stream: PartitionedStream, func: Any) -> FilterColumns:
    """Return the specification of `filter_columns`."""
    return FilterColumns(_checked(func, "filter_columns"), _columns_of(stream))


def _checked(func: Any, method: str) -> Any:
    if not callable(func):
        raise TypeMismatchError(f"{method} takes a function of a pyarrow RecordBatch", seen=func)
    return func


def _columns_of(stream: PartitionedStream) -> RowColumns:
    kind = stream.transformation.output_type
    try:
        return RowColumns(row_type_of_stream(kind))
    except InvalidProgramError as error:
        raise InvalidProgramError(
            "Functions on columns need a stream of rows whose fields have names and types",
            operator_name=stream.get_name(),
            seen=error.seen or kind,
            remedy="declare them on the previous operator: output_type=Types.ROW_NAMED([...], [...])",
        ) from None
