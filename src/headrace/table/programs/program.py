"""Programs: the expressions of an operator, compiled on first use. They are pickled as expressions, not as code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from headrace.table.functions.definition import Running, Session
from headrace.table.plan.rex import Call, Rex
from headrace.table.programs import special_forms
from headrace.table.programs.column_code import Batch, ColumnCode
from headrace.table.programs.column_program import ColumnProgram
from headrace.table.programs.compiled import executed, row_function
from headrace.table.programs.folding import fold
from headrace.table.programs.row_code import RowCode
from headrace.types.logical_types import RowType

Row = tuple[Any, ...]


class _Compiled:
    """Pickles only what was passed in; compiled functions are cached properties, made again where they are needed."""

    _kept: tuple[str, ...]

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._kept}


class Program(_Compiled):
    """Projections and a filter over rows or columns.

    Without `expressions`, rows pass unchanged.

    >>> from headrace.table.functions.registry import scalar_function
    >>> from headrace.table.plan.rex import InputRef, Literal
    >>> from headrace.types.logical_types import BigIntType, BooleanType, RowField
    >>> number = BigIntType().not_null()
    >>> a, two = InputRef(number, 0), Literal(number, 2)
    >>> double = Call(number, scalar_function("*"), (a, two))
    >>> large = Call(BooleanType().not_null(), scalar_function(">"), (a, two))
    >>> Program((double, a), large, RowType((RowField("a", number),))).rows([(1,), (3,)])
    [(6, 3)]
    """

    _kept = ("session", "expressions", "condition", "input_type")

    def __init__(
        self,
        expressions: Sequence[Rex] | None,
        condition: Rex | None,
        input_type: RowType,
        session: Session | None = None,
    ) -> None:
        """`condition` may be None: then all rows pass."""
        self.session = replace(session or Session(), running=Running())
        self.expressions = None if expressions is None else tuple(fold(each, self.session) for each in expressions)
        self.condition = None if condition is None else fold(condition, self.session)
        self.input_type = input_type

    def rows(self, rows: list[Row], kinds: bool = False) -> list[Row]:
        """Return the results for the rows that pass the filter. With `kinds`, the last element is carried over."""
        return self._with_kinds(rows) if kinds else self._without_kinds(rows)

    def at_watermark(self, timestamp: int) -> None:
        """Note the watermark of the operator, for CURRENT_WATERMARK."""
        self.session.running.watermark = timestamp

    @cached_property
    def _with_kinds(self) -> Callable[[list[Row]], list[Row]]:
        return self._compile(kinds=True)

    @cached_property
    def _without_kinds(self) -> Callable[[list[Row]], list[Row]]:
        return self._compile(kinds=False)

    def _compile(self, kinds: bool) -> Callable[[list[Row]], list[Row]]:
        code = RowCode(self.session, lambda index: f"r[{index}]", "r")
        for each in (*(self.expressions or ()), *(() if self.condition is None else (self.condition,))):
            code.count(each)
        tests = [] if self.condition is None else [code.test(each) for each in _conjuncts(code, self.condition)]
        if self.expressions is None:
            result = "r"
        else:
            sources = [code.value(each) for each in self.expressions] + (["r[-1]"] if kinds else [])
            result = f"({', '.join(sources)}{',' if len(sources) == 1 else ''})"
        condition = " and ".join(tests)
        if code.temporaries:
            lines = ["def run(rows):", "    found = []", "    append = found.append", "    for r in rows:"]
            if condition:
                lines += [f"        if {condition}:", f"            append({result})"]
            else:
                lines += [f"        append({result})"]
            lines += ["    return found"]
        else:
            lines = ["def run(rows):", f"    return [{result} for r in rows{f' if {condition}' if condition else ''}]"]
        return executed(code, lines)

    def columns(self, batch: Any, kinds: bool = False) -> Any:
        """Return the results for a record batch. With `kinds`, the last column is carried over."""
        return self._columns(batch, kinds)

    @cached_property
    def _columns(self) -> ColumnProgram:
        return ColumnProgram(self.expressions, self.condition, self.session)


def _conjuncts(code: RowCode, condition: Rex) -> list[Rex]:
    """Return the parts of a filter. All of them were evaluated for a row that passes, so their variables stay valid."""
    if isinstance(condition, Call) and condition.function.name == "AND" and not code.shared(condition):
        return special_forms.flattened(code, condition)
    return [condition]


class Predicate(_Compiled):
    """A condition over one row, or over a row of each side of a join, whose columns follow each other."""

    _kept = ("session", "condition", "left_columns")

    def __init__(self, condition: Rex, left_columns: int = 0, session: Session | None = None) -> None:
        """`left_columns` is the number of columns of the left side: further columns are those of the right side."""
        self.session = session or Session()
        self.condition = fold(condition, self.session)
        self.left_columns = left_columns

    @cached_property
    def pair(self) -> Callable[[Row, Row], bool]:
        """The function that tells whether a pair of rows meets the condition; null counts as false."""
        width = self.left_columns
        code = RowCode(self.session, lambda index: f"l[{index}]" if index < width else f"r[{index - width}]", "l, r")
        code.count(self.condition)
        return executed(code, ["def run(l, r):", f"    return True if {code.test(self.condition)} else False"])

    @cached_property
    def row(self) -> Callable[[Row], bool]:
        """The function that tells whether one row meets the condition; null counts as false."""
        code = RowCode(self.session, lambda index: f"r[{index}]", "r")
        code.count(self.condition)
        return executed(code, ["def run(r):", f"    return True if {code.test(self.condition)} else False"])

    def columns(self, batch: Any) -> Any:
        """Return the rows of a record batch that meet the condition; the columns of both sides follow each other."""
        return self._columns(batch, False)

    @cached_property
    def _columns(self) -> ColumnProgram:
        return ColumnProgram(None, self.condition, self.session)

    def rows(self, rows: list[Row]) -> list[bool]:
        """Return for each row whether it meets the condition."""
        return list(map(self.row, rows))


class Scalar(_Compiled):
    """One expression over a row, such as a watermark."""

    _kept = ("session", "expression")

    def __init__(self, expression: Rex, session: Session | None = None) -> None:
        """`expression` is over the columns of the input."""
        self.session = session or Session()
        self.expression = fold(expression, self.session)

    @cached_property
    def value(self) -> Callable[[Row], Any]:
        """The function that returns the value for a row."""
        return row_function(self.expression, self.session)

    @cached_property
    def column(self) -> Callable[[Any], Any]:
        """The function that returns the values for a record batch, as an array."""
        evaluate = ColumnCode(self.session).array(self.expression)
        return lambda batch: evaluate(Batch(batch.num_rows, batch.columns))
