"""Expressions over columns: each becomes a function of a batch that returns a pyarrow array, or a scalar for constants.

- A call whose function has a column form is computed by it; the others by row code, over the values of only the columns
  that they read.
- CASE, COALESCE, AND and OR evaluate an operand that can fail for only those rows that need it.
- An expression that occurs more than once is computed once per batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace.operators.table.batches import array_maker, arrow_type, numpy, pyarrow, values_reader
from headrace.table.functions.definition import Session
from headrace.table.plan.rex import Call, FieldAccess, InputRef, Literal, Rex, input_columns, shifted, walk
from headrace.table.programs.calls import call_site
from headrace.table.programs.compiled import executed
from headrace.table.programs.failing import can_fail
from headrace.table.programs.row_code import RowCode
from headrace.table.programs.sharing import ExpressionKeys
from headrace.types.logical_types import DataType, NullType


class Batch:
    """The columns of some rows, and what has been computed from them."""

    def __init__(self, size: int, columns: Sequence[Any], source: Batch | None = None, places: Any = None) -> None:
        """Columns are given, or taken from another batch at `places` when they are read."""
        self.size = size
        self.computed: dict[int, Any] = {}
        self._columns: list[Any] = list(columns)
        self._source, self._places = source, places

    def column(self, index: int) -> Any:
        """Return a column."""
        found = self._columns[index]
        if found is None:
            assert self._source is not None
            found = self._columns[index] = self._source.column(index).take(self._places)
        return found

    def at(self, places: Any) -> Batch:
        """Return the rows at some places."""
        return Batch(len(places), [None] * len(self._columns), self, places)


Datum = Any
Evaluate = Callable[[Batch], Datum]


class ColumnCode:
    """Makes functions of batches from expressions."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._key = ExpressionKeys().of
        self._made: dict[int, Evaluate] = {}

    def evaluate(self, rex: Rex) -> Evaluate:
        """Return the function that computes an expression."""
        key = self._key(rex)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._once(key, self._make(rex)) if isinstance(rex, Call) else self._make(rex)
        return made

    def array(self, rex: Rex) -> Evaluate:
        """Return the function that computes an expression as an array, even if it is a constant."""
        evaluate = self.evaluate(rex)
        return lambda batch: as_array(evaluate(batch), batch.size)

    def _once(self, key: int, compute: Evaluate) -> Evaluate:
        def once(batch: Batch) -> Datum:
            found = batch.computed.get(key)
            if found is None:
                found = batch.computed[key] = compute(batch)
            return found

        return once

    def _make(self, rex: Rex) -> Evaluate:
        match rex:
            case InputRef(index=index):
                return lambda batch: batch.column(index)
            case Literal():
                symbol = isinstance(rex.type, NullType) and rex.value is not None
                constant = rex.value if symbol else array_maker(rex.type)([rex.value])[0]
                return lambda batch: constant
            case FieldAccess():
                return self._field(rex)
        assert isinstance(rex, Call), rex
        return self._lazy(rex) or self._columns(rex) or self._rows(rex)

    def _field(self, rex: FieldAccess) -> Evaluate:
        compute = pyarrow("pyarrow.compute")
        value = self.array(rex.value)
        return lambda batch: compute.struct_field(value(batch), [rex.index])

    def _columns(self, call: Call) -> Evaluate | None:
        if call.function.columns is None or not call.function.deterministic:
            return None
        if call.arguments and all(isinstance(each, Literal) for each in call.arguments):
            return None  # it fails, else it would be folded
        form = call.function.columns(call_site(call, self._session))
        if form is None:
            return None
        arguments = [self.evaluate(each) for each in call.arguments]
        return lambda batch: form(*[argument(batch) for argument in arguments])

    def _rows(self, call: Call) -> Evaluate:
        columns = sorted(input_columns(call))
        run = self._loop(shifted(call, {column: place for place, column in enumerate(columns)}), len(columns))
        types = {each.index: each.type for each in walk(call) if isinstance(each, InputRef)}
        readers = [(column, values_reader(types[column])) for column in columns]
        make = array_maker(call.type)
        return lambda batch: make(run(batch.size, *[read(batch.column(column)) for column, read in readers]))

    def _loop(self, rex: Rex, columns: int) -> Callable[..., list[Any]]:
        """Return the function from the number of rows and the lists of values to the list of results."""
        names, lists = [f"r{place}" for place in range(columns)], [f"v{place}" for place in range(columns)]
        code = RowCode(self._session, names.__getitem__, ", ".join(names))
        code.count(rex)
        source = code.value(rex)
        loop = f"for {', '.join(names)}, in zip({', '.join(lists)})" if columns else "for _ in range(size)"
        lines = [f"def run({', '.join(['size', *lists])}):", "    found = []", f"    {loop}:"]
        return executed(code, [*lines, f"        found.append({source})", "    return found"])

    # -- evaluation of only some rows

    def _lazy(self, call: Call) -> Evaluate | None:
        arguments = call.arguments
        match call.function.name:
            case "CASE" | "IF":
                return self._case(call.type, arguments[0:-1:2], [*arguments[1:-1:2], arguments[-1]])
            case "COALESCE" | "IFNULL":
                return self._coalesce(call.type, arguments)
            case "AND" | "OR" if any(map(can_fail, arguments[1:])):
                return self._logic(call)
        return None

    def _case(self, result: DataType, conditions: Sequence[Rex], values: Sequence[Rex]) -> Evaluate:
        kind = arrow_type(result)
        if not any(map(can_fail, (*conditions[1:], *values))):
            tests = [self.evaluate(each) for each in conditions]
            branches = [self.evaluate(each) for each in values]
            return lambda batch: _chosen([test(batch) for test in tests], [branch(batch) for branch in branches], kind)
        tests = [self.array(each) for each in conditions]
        branches = [self.array(each) for each in values]

        def compute(batch: Batch) -> Any:
            pieces: list[tuple[Any, Any]] = []
            rest, places = batch, numpy().arange(batch.size)
            for test, branch in zip(tests, branches):
                if not rest.size:
                    break
                chosen = _true_places(test(rest))
                pieces.append((places[chosen], branch(rest.at(pyarrow().array(chosen)))))
                others = numpy().delete(numpy().arange(rest.size), chosen)
                rest, places = rest.at(pyarrow().array(others)), places[others]
            pieces.append((places, branches[-1](rest)))
            return assembled(pieces, batch.size, kind)

        return compute

    def _coalesce(self, result: DataType, arguments: Sequence[Rex]) -> Evaluate:
        kind = arrow_type(result)
        if not any(map(can_fail, arguments[1:])):
            made = [self.evaluate(each) for each in arguments]
            coalesce = pyarrow("pyarrow.compute").coalesce
            return lambda batch: coalesce(*[_typed(each(batch), kind) for each in made])
        arrays = [self.array(each) for each in arguments]

        def compute(batch: Batch) -> Any:
            pieces: list[tuple[Any, Any]] = []
            rest, places = batch, numpy().arange(batch.size)
            for each in arrays[:-1]:
                if not rest.size:
                    break
                value = each(rest)
                valid = value.is_valid().to_numpy(zero_copy_only=False)
                pieces.append((places[valid], value.drop_null()))
                others = numpy().flatnonzero(~valid)
                rest, places = rest.at(pyarrow().array(others)), places[others]
            pieces.append((places, arrays[-1](rest)))
            return assembled(pieces, batch.size, kind)

        return compute

    def _logic(self, call: Call) -> Evaluate:
        """Evaluate the operands of AND (or OR) for those rows for which no earlier operand is false (true)."""
        pc = pyarrow("pyarrow.compute")
        conjunction = call.function.name == "AND"
        combine = pc.and_kleene if conjunction else pc.or_kleene
        operands = [self.array(each) for each in call.arguments]

        def compute(batch: Batch) -> Any:
            found = operands[0](batch)
            for each in operands[1:]:
                undecided = _true_places(pc.fill_null(found if conjunction else pc.invert(found), True))
                if not len(undecided):
                    return found
                value = combine(found.take(undecided), each(batch.at(pyarrow().array(undecided))))
                others = numpy().delete(numpy().arange(batch.size), undecided)
                found = assembled([(undecided, value), (others, found.take(others))], batch.size, found.type)
            return found

        return compute


def as_array(datum: Datum, size: int) -> Any:
    """Return an array: a scalar is repeated, chunks are combined."""
    pa = pyarrow()
    if isinstance(datum, pa.Scalar):
        return pa.repeat(datum, size)
    return datum.combine_chunks() if isinstance(datum, pa.ChunkedArray) else datum


def _true_places(condition: Any) -> Any:
    values = pyarrow("pyarrow.compute").fill_null(condition, False).to_numpy(zero_copy_only=False)
    return numpy().flatnonzero(values)


def _typed(datum: Datum, kind: Any) -> Datum:
    return datum if datum.type == kind else datum.cast(kind)


def _chosen(tests: list[Datum], branches: list[Datum], kind: Any) -> Datum:
    pc = pyarrow("pyarrow.compute")
    found = _typed(branches[-1], kind)
    for test, branch in zip(reversed(tests), reversed(branches[:-1])):
        found = pc.if_else(pc.fill_null(test, False), _typed(branch, kind), found)
    return found


def assembled(pieces: list[tuple[Any, Any]], size: int, kind: Any) -> Any:
    """Return one array from arrays for disjoint places (numpy arrays of row numbers) that together are all rows."""
    order = numpy().empty(size, "int64")
    start = 0
    for places, array in pieces:
        order[places] = numpy().arange(start, start + len(array))
        start += len(array)
    return pyarrow().concat_arrays([_typed(array, kind) for _, array in pieces]).take(pyarrow().array(order))
