"""RowsOfFunction: a call of a table function as one callable of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from headrace.table.functions.definition import NOT_CONSTANT, Argument, CallSite, Session
from headrace.table.plan.relations import TableFunctionCall
from headrace.table.plan.rex import Literal
from headrace.table.programs import Scalar

Row = tuple[Any, ...]


class RowsOfFunction:
    """Returns the rows that a table function has for a row of the left side. Pickled without its compiled parts."""

    def __init__(self, call: TableFunctionCall, session: Session) -> None:
        """Arguments are expressions over the row."""
        self._function, self._arguments = call.function, call.arguments
        self._result, self._session = call.row_type, session

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_made")}

    def __call__(self, row: Row) -> Iterable[Row]:
        """Return the rows for a row."""
        function, arguments = self._made
        return function(*[argument(row) for argument in arguments])

    @cached_property
    def _made(self) -> tuple[Callable[..., Iterable[Row]], list[Callable[[Row], Any]]]:
        arguments = tuple(
            Argument(each.type, each.value if isinstance(each, Literal) else NOT_CONSTANT) for each in self._arguments
        )
        function = self._function.rows(CallSite(arguments, self._result, self._session))
        return function, [Scalar(each, self._session).value for each in self._arguments]
