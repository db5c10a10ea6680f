"""Aggregates over columns: for each group an element in arrays of numpy, instead of a list of accumulators.

Every aggregate is made of fields, and every field is one operation (add, minimum, maximum) over the rows of a group. Rows
are added one after the other, so sums of floating-point numbers are those of the row form. Fields of several slices are
merged by the same operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.graph.table_specs import AggregateSpec
from headrace.operators.table.batches import numpy, pyarrow

_OPERATIONS = {"COUNT": "add", "SUM": "add", "AVG": "add", "MIN": "minimum", "MAX": "maximum"}


@dataclass(frozen=True)
class Field:
    """An array of a slice. `argument` None counts rows; `filter` is a BOOLEAN column. Nulls are left out."""

    operation: str
    type: str
    argument: int | None
    filter: int | None
    counts: bool = False
    """Whether rows are counted, instead of their values added."""

    def initial(self) -> Any:
        """Return the value of a group without rows."""
        np = numpy()
        if self.operation == "add":
            return 0
        if self.type.startswith("float"):
            return np.inf if self.operation == "minimum" else -np.inf
        limits = np.iinfo(self.type)
        return limits.max if self.operation == "minimum" else limits.min


def can_use_columns(calls: Sequence[AggregateSpec]) -> bool:
    """Return whether all calls have a form for columns."""
    return all(call.columns is not None and not call.distinct and not call.order_by for call in calls)


def in_any_order(calls: Sequence[AggregateSpec]) -> bool:
    """Return whether the order of rows does not matter: there are no sums of floating-point numbers."""
    return not any(call.columns and call.columns.type.startswith("float") for call in calls)


class ColumnAggregates:
    """The fields of a list of calls. Field 0 is the number of rows of a group."""

    def __init__(self, calls: Sequence[AggregateSpec]) -> None:
        self.fields: list[Field] = [Field("add", "int64", None, None, counts=True)]
        self._calls = [self._places(call) for call in calls]

    def _places(self, call: AggregateSpec) -> tuple[str, str, int, int]:
        """Return kind, type, the field of the value and the field with the number of values."""
        form = call.columns
        assert form is not None
        argument = call.arguments[0] if call.arguments else None
        count = self._field(Field("add", "int64", argument, call.filter, counts=True))
        if form.kind == "COUNT":
            return form.kind, form.type, count, count
        kind = form.type
        if form.kind == "AVG":
            kind = "float64" if kind.startswith("float") else "int64"
        elif form.kind == "SUM" and kind.startswith("int"):
            kind = "int64"  # the lower bits are those of the smaller type
        value = self._field(Field(_OPERATIONS[form.kind], kind, argument, call.filter))
        return form.kind, form.type, value, count

    def _field(self, field: Field) -> int:
        if field not in self.fields:
            self.fields.append(field)
        return self.fields.index(field)

    # -- groups ---------------------------------------------------------------------------------------------------

    def create(self, size: int) -> list[Any]:
        """Return the arrays of `size` groups without rows."""
        np = numpy()
        return [np.full(size, field.initial(), dtype=field.type) for field in self.fields]

    def resized(self, arrays: list[Any], size: int) -> list[Any]:
        """Return the arrays with groups without rows at their ends."""
        np = numpy()
        more = self.create(size - len(arrays[0]))
        return [np.concatenate((array, added)) for array, added in zip(arrays, more)]

    def add(self, arrays: list[Any], groups: Any, batch: Any) -> None:
        """Add the rows of a batch to their groups."""
        np = numpy()
        masks: dict[tuple[int | None, int | None], Any] = {}
        chosen: dict[tuple[int | None, int | None], Any] = {}
        for field, array in zip(self.fields, arrays):
            rows = field.argument, field.filter
            if rows not in masks:
                mask = masks[rows] = _mask(batch, *rows)
                chosen[rows] = groups if mask is None else groups[mask]
            if field.counts:
                array += np.bincount(chosen[rows], minlength=len(array))
            else:
                values = _numbers(batch.columns[field.argument])
                if masks[rows] is not None:
                    values = values[masks[rows]]
                getattr(np, field.operation).at(array, chosen[rows], values.astype(field.type, copy=False))

    def merged(self, slices: list[list[Any]], places: Any) -> list[Any]:
        """Return the fields of the groups at `places`, over several slices."""
        np = numpy()
        if len(slices) == 1:
            return [array[places] for array in slices[0]]
        merged = []
        for i, field in enumerate(self.fields):
            total = slices[0][i][places]
            for each in slices[1:]:
                getattr(np, field.operation)(total, each[i][places], out=total)
            merged.append(total)
        return merged

    def add_fields(self, arrays: list[Any], groups: Any, columns: list[Any]) -> None:
        """Add the fields of other groups, such as those of `LocalWindowAggregate`."""
        np = numpy()
        for field, array, column in zip(self.fields, arrays, columns):
            getattr(np, field.operation).at(array, groups, column)

    # -- results --------------------------------------------------------------------------------------------------

    def values(self, fields: list[Any]) -> list[tuple[Any, Any]]:
        """Return the results of all calls: values, and which of them are null (None: none is)."""
        np = numpy()
        out = []
        for kind, numbers, value, count in self._calls:
            if kind == "COUNT":
                out.append((fields[value], None))
                continue
            some, result = fields[count], fields[value]
            empty = some == 0
            if kind == "AVG":
                by = np.where(empty, 1, some)
                if numbers.startswith("float"):
                    result = result / by
                else:  # truncated towards zero; the smallest number has no absolute value to divide
                    quotient = result // by
                    result = quotient + ((result < 0) & (quotient * by != result))
            out.append((result.astype(numbers, copy=False), empty if empty.any() else None))
        return out

    def results(self, fields: list[Any]) -> list[Any]:
        """Return the results of all calls, as arrays of pyarrow."""
        array = pyarrow().array
        return [array(values, mask=empty) for values, empty in self.values(fields)]

    def running(self, base: list[Any], groups: Any, first: Any, order: Any, batch: Any) -> list[Any]:
        """Return the fields after each row. Rows are in `order`, which sorts them by group; `first` marks new groups."""
        np = numpy()
        places = np.arange(len(order))
        begin = np.maximum.accumulate(np.where(first, places, 0))
        out = []
        for field, array in zip(self.fields, base):
            mask = _mask(batch, field.argument, field.filter)
            if field.counts:
                rows = np.ones(len(order), dtype=np.int64) if mask is None else mask.astype(np.int64)[order]
            else:
                rows = _numbers(batch.columns[field.argument]).astype(field.type, copy=False)
                if mask is not None:
                    rows = np.where(mask, rows, np.array(field.initial(), dtype=field.type))
                rows = rows[order]
            if field.operation == "add":
                totals = np.cumsum(rows)
                out.append(totals - (totals - rows)[begin] + array[groups])
            else:
                out.append(_running_extremes(getattr(np, field.operation), rows, array[groups], places - begin))
        return out

    # -- the form of rows -----------------------------------------------------------------------------------------

    def entries(self, fields: list[Any]) -> list[list[Any]]:
        """Return the entries of groups as the row form keeps them: [*accumulators, number of rows]."""
        columns: list[list[Any]] = []
        for kind, numbers, value, count in self._calls:
            if kind == "AVG":
                columns.append([list(pair) for pair in zip(fields[value].tolist(), fields[count].tolist())])
                continue
            values = fields[value].astype(numbers, copy=False).tolist()
            if kind != "COUNT" and not fields[count].all():
                values = [each if some else None for each, some in zip(values, fields[count].tolist())]
            columns.append(values)
        return [list(entry) for entry in zip(*columns, fields[0].tolist())]

    def load(self, arrays: list[Any], places: Any, entries: list[list[Any]]) -> None:
        """Set the fields of groups from their entries. Of SUM, MIN and MAX, only whether there are values is known."""
        np = numpy()
        arrays[0][places] = [entry[-1] for entry in entries]
        for number, (kind, _, value, count) in enumerate(self._calls):
            accumulators = [entry[number] for entry in entries]
            if kind == "AVG":
                arrays[value][places] = [total for total, _ in accumulators]
                arrays[count][places] = [rows for _, rows in accumulators]
            elif kind == "COUNT":
                arrays[value][places] = accumulators
            else:
                some = np.array([each is not None for each in accumulators])
                initial = self.fields[value].initial()
                arrays[value][places] = [initial if each is None else each for each in accumulators]
                arrays[count][places] = np.maximum(arrays[count][places], some)


def _running_extremes(operation: Any, rows: Any, base: Any, before: Any) -> Any:
    """Return the least or greatest value so far in each group, where `before` is the number of rows before it.

    In step k each row takes over what the row 2^k before it has seen, if that belongs to the same group.
    """
    np = numpy()
    result = operation(rows, base)
    step, longest = 1, int(before.max())
    while step <= longest:
        result[step:] = np.where(before[step:] >= step, operation(result[step:], result[:-step]), result[step:])
        step *= 2
    return result


def _mask(batch: Any, argument: int | None, condition: int | None) -> Any:
    """Return which rows count, as an array of numpy; None if all do."""
    mask = None
    if argument is not None and batch.columns[argument].null_count:
        mask = batch.columns[argument].is_valid().to_numpy(zero_copy_only=False)
    if condition is not None:
        column = batch.columns[condition]
        passed = (column.fill_null(False) if column.null_count else column).to_numpy(zero_copy_only=False)
        mask = passed if mask is None else mask & passed
    return mask


def _numbers(column: Any) -> Any:
    return (column.fill_null(0) if column.null_count else column).to_numpy()
