"""The connector `datagen`: rows of random values and sequences.

Decides the rows by their number alone, so that a repeated epoch reads the same rows. Like in Flink, the numbers of a
sequence are dealt to the subtasks in turn.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader
from headrace.table.connectors.base import ConnectorContext, TableFactory, TableSource
from headrace.table.connectors.generators import Generator, generator_of
from headrace.table.connectors.options import Option, Options, boolean, decimal, duration, integer
from headrace.table.errors import SqlValidationError
from headrace.types.logical_types import RowType

if TYPE_CHECKING:
    from headrace.datastream import DataStream, StreamExecutionEnvironment

_ENDLESS = 2**63 - 1
_BLOCK = 1024
_COLUMN_ROWS = 100
_BATCH = 16384


class DataGenFactory(TableFactory):
    """Makes sources of generated rows."""

    identifier = "datagen"
    options = (
        Option("connector", required=True),
        Option("rows-per-second", integer, 10_000),
        Option("number-of-rows", integer),
        Option("scan.parallelism", integer),
        Option("fields.#.kind", str.lower, "random", choices=("random", "sequence")),
        Option("fields.#.min"),
        Option("fields.#.max"),
        Option("fields.#.max-past", duration, 0),
        Option("fields.#.length", integer),
        Option("fields.#.var-len", boolean, False),
        Option("fields.#.null-rate", decimal, 0.0),
        Option("fields.#.start"),
        Option("fields.#.end"),
    )

    def source(self, context: ConnectorContext) -> TableSource:
        """Return a source of generated rows."""
        options = Options(context.options, self.options, f"the table {context.label}")
        _check_fields(context)
        fields = context.row_type.fields
        generators = tuple(generator_of(f"fields.{field.name}", field.data_type, options) for field in fields)
        counts = [generator.count for generator in generators if generator.count is not None]
        rows = options["number-of-rows"]
        limit = min([*counts, *([] if rows is None else [rows])], default=None)
        return GeneratedTable(
            context.row_type, generators, limit, options["rows-per-second"], options["scan.parallelism"]
        )


def _check_fields(context: ConnectorContext) -> None:
    names = context.row_type.field_names()
    for key in context.options:
        if key.startswith("fields.") and not any(key.startswith(f"fields.{name}.") for name in names):
            raise SqlValidationError(
                f"The option '{key}' of the table {context.label} names no column",
                expected=f"one of {', '.join(names)}",
            )


@dataclass
class GeneratedTable(TableSource):
    """A table of generated rows."""

    row_type: RowType
    generators: tuple[Generator, ...]
    count: int | None
    rate: int
    parallelism: int | None = None

    def __post_init__(self) -> None:
        """Note whether the table ends."""
        self.bounded = self.count is not None

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        """Return a source of some columns, with the same values as before."""
        if not columns:
            return None
        fields = tuple(self.row_type.fields[column] for column in columns)
        chosen = tuple(self.generators[column] for column in columns)
        return replace(self, row_type=RowType(fields, is_nullable=False), generators=chosen)

    def stream(self, env: StreamExecutionEnvironment, name: str) -> DataStream:
        """Return the rows."""
        source = GeneratedRows(self.row_type, self.generators, self.count, self.rate)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), name)
        if self.parallelism is not None:
            stream.set_parallelism(self.parallelism)
        return stream


@dataclass(frozen=True, eq=False)
class GeneratedRows(Source):
    """Rows number 0 to `count - 1`, endless without `count`; all subtasks together make at most `rate` a second."""

    row_type: RowType
    generators: tuple[Generator, ...]
    count: int | None
    rate: float

    @property
    def bounded(self) -> bool:
        """Return whether the rows end."""
        return self.count is not None

    @property
    def batch_records(self) -> int:
        """Return the number of rows in a batch."""
        return _BATCH

    def splits(self, parallelism: int) -> list[Split]:
        """Return a split for each subtask."""
        total = _ENDLESS if self.count is None else self.count
        return [
            Split(str(first), (first, parallelism, (total - first + parallelism - 1) // parallelism))
            for first in range(parallelism)
            if first < total
        ]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        """Return a reader of the rows of a split."""
        first, step, count = split.payload
        return _Reader(self, range(first, first + step * count, step), position or 0, self.rate / context.parallelism)


class _Reader(SplitReader):
    def __init__(self, source: GeneratedRows, numbers: range, start: int, rate: float) -> None:
        self._generators, self._numbers, self._next, self._first = source.generators, numbers, start, start
        self._rate = rate
        self._opened_at: int | None = None
        self._names = [field.name for field in source.row_type.fields]
        self._blocks: dict[str, tuple[int, Sequence[Any]]] = {}
        self._codec: Any = None
        if find_spec("pyarrow") is not None and all(generator.columnar for generator in self._generators):
            from headrace.operators.table.batches import TableColumns

            self._codec = TableColumns(source.row_type)
        self.finished = start >= len(numbers)

    def read(self, limit: int, now: int) -> Batch:
        if self._opened_at is None:
            self._opened_at = now
        due = self._first + int((now - self._opened_at) * self._rate / 1000) + 1
        after = min(self._next + limit, due, len(self._numbers))
        if after <= self._next:
            return EMPTY
        numbers = self._numbers[self._next : after]
        columnar = self._codec is not None and len(numbers) >= _COLUMN_ROWS
        columns = [self._column(i, generator, numbers, columnar) for i, generator in enumerate(self._generators)]
        self._next = after
        self.finished = after >= len(self._numbers)
        return Batch(self._codec.of_arrays(columns) if columnar else list(zip(*columns)))

    def _column(self, index: int, generator: Generator, numbers: range, columnar: bool) -> Any:
        if generator.count is not None:
            return generator.array(numbers) if columnar else generator.sequence(numbers)
        values = self._random(index, generator, len(numbers))
        if not columnar:
            return values
        from headrace.operators.table.batches import pyarrow

        return pyarrow().array(values, self._codec.schema.types[index])

    def _random(self, index: int, generator: Generator, count: int) -> list[Any]:
        """Return the random values of the next rows; a block of rows has a seed of its own."""
        found: list[Any] = []
        name, position, end = self._names[index], self._next, self._next + count
        while position < end:
            number = position // _BLOCK
            known = self._blocks.get(name)
            if known is None or known[0] != number:
                seed = f"{name}/{self._numbers.start}/{self._numbers.step}/{number}"
                known = self._blocks[name] = (number, generator.values(random.Random(seed), _BLOCK))
            start = position - number * _BLOCK
            part = known[1][start : start + end - position]
            found += part
            position += len(part)
        return found

    def position(self) -> int:
        return self._next


FACTORY = DataGenFactory()
