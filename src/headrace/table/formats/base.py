"""What a format of tables is: how files become rows in internal form, and rows become files."""

from __future__ import annotations

import difflib
from abc import ABC
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from headrace.table.connectors.options import Option, Options
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.types.logical_types import RowType

if TYPE_CHECKING:
    from headrace.connectors.files.file_format import FileFormat
    from headrace.types.serialization import BulkWriterFactory, Encoder


class TableFormat(ABC):
    """A format. `options` are without the name of the format before them: `ignore-parse-errors`."""

    identifier: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()

    def reader(self, row_type: RowType, options: Options, time_zone: str) -> FileFormat:
        """Return what reads files of rows: lists of internal rows, or runs of columns."""
        raise SqlNotSupportedError(f"The format '{self.identifier}' cannot read files")

    def writer(self, row_type: RowType, options: Options, time_zone: str) -> Encoder | BulkWriterFactory:
        """Return what writes files of internal rows."""
        raise SqlNotSupportedError(f"The format '{self.identifier}' cannot write files")


_MODULES = {"csv": "csv_format", "json": "json_format", "parquet": "parquet_format", "raw": "raw_format"}


@cache
def format_named(identifier: str) -> TableFormat:
    """Return a format by its name."""
    module = _MODULES.get(identifier)
    if module is not None:
        found: TableFormat = import_module(f"headrace.table.formats.{module}").FORMAT
        return found
    near = difflib.get_close_matches(identifier, _MODULES, 1)
    raise SqlValidationError(
        f"Could not find any format factory for identifier '{identifier}'",
        expected=f"one of {', '.join(sorted(_MODULES))}",
        remedy=f"did you mean '{near[0]}'?" if near else None,
    )


def split_options(given: Mapping[str, str], identifier: str, owner: str) -> tuple[dict[str, str], Options]:
    """Separate the options of a format from those of the connector, and check the former."""
    format_ = format_named(identifier)
    prefix = f"{identifier}."
    own = {key.removeprefix(prefix): value for key, value in given.items() if key.startswith(prefix)}
    rest = {key: value for key, value in given.items() if not key.startswith(prefix)}
    return rest, Options(own, format_.options, f"the format '{identifier}' of {owner}")


def unsupported_type(format_name: str, data_type: Any) -> SqlNotSupportedError:
    """Return the error for a column that a format cannot have."""
    from headrace.table.functions.type_text import sql_text

    return SqlNotSupportedError(f"The format '{format_name}' does not support the type {sql_text(data_type)}")
