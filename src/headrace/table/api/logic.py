"""Members for comparisons, conditions and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.analysis.inline import InlineCast
from headrace.table.api.nodes import TableQuery
from headrace.table.api.operand import Operand, data_type_of, node_of
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import DataType

if TYPE_CHECKING:
    from typing import Self


def is_test(test: str, doc: str, negated: bool = False) -> Any:
    """Return a property for `x IS [NOT] test`."""
    return property(lambda self: self._make(syntax.Is(self.node, test, negated)), doc=doc)


class Logic(Operand):
    """Comparisons, conditions and casts."""

    def _binary(self, operator: str, other: Any) -> Self:
        return self._make(syntax.Binary(operator, self.node, node_of(other)))

    def _reversed(self, operator: str, other: Any) -> Self:
        return self._make(syntax.Binary(operator, node_of(other), self.node))

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        """Return whether two values are equal."""
        return self._binary("=", other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        """Return whether two values differ."""
        return self._binary("<>", other)

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Self:
        """Return whether the value is less than another one."""
        return self._binary("<", other)

    def __le__(self, other: Any) -> Self:
        """Return whether the value is at most another one."""
        return self._binary("<=", other)

    def __gt__(self, other: Any) -> Self:
        """Return whether the value is greater than another one."""
        return self._binary(">", other)

    def __ge__(self, other: Any) -> Self:
        """Return whether the value is at least another one."""
        return self._binary(">=", other)

    def __and__(self, other: Any) -> Self:
        """Return whether both conditions hold."""
        return self._binary("AND", other)

    def __rand__(self, other: Any) -> Self:
        """Return whether both conditions hold."""
        return self._reversed("AND", other)

    def __or__(self, other: Any) -> Self:
        """Return whether one of two conditions holds."""
        return self._binary("OR", other)

    def __ror__(self, other: Any) -> Self:
        """Return whether one of two conditions holds."""
        return self._reversed("OR", other)

    def __invert__(self) -> Self:
        """Return whether the condition does not hold."""
        return self._make(syntax.Unary("NOT", self.node))

    is_null = is_test("NULL", "Whether the value is null.")
    is_not_null = is_test("NULL", "Whether the value is not null.", negated=True)
    is_true = is_test("TRUE", "Whether the condition is true.")
    is_false = is_test("FALSE", "Whether the condition is false.")
    is_not_true = is_test("TRUE", "Whether the condition is false or null.", negated=True)
    is_not_false = is_test("FALSE", "Whether the condition is true or null.", negated=True)

    def between(self, lower_bound: Any, upper_bound: Any) -> Self:
        """Return whether the value is between two bounds, which are included."""
        return self._make(syntax.Between(self.node, node_of(lower_bound), node_of(upper_bound)))

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Self:
        """Return whether the value is less than the lower or greater than the upper bound."""
        return self._make(syntax.Between(self.node, node_of(lower_bound), node_of(upper_bound), negated=True))

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Self:
        """Return whether the value is one of some values, or in the only column of a table."""
        if hasattr(first_element_or_table, "relation"):
            query = TableQuery(first_element_or_table)
            return self._make(syntax.In(self.node, (query,)))
        given = (first_element_or_table, *remaining_elements)
        return self._make(syntax.In(self.node, tuple(map(node_of, given))))

    def then(self, if_true: Any, if_false: Any) -> Self:
        """Return one of two values, by the condition."""
        branch = ((self.node,), node_of(if_true))
        return self._make(syntax.Case(None, (branch,), node_of(if_false)))

    def if_null(self, null_replacement: Any) -> Self:
        """Return the value, or another one if it is null."""
        return self._call("IFNULL", null_replacement)

    def cast(self, data_type: DataType | str) -> Self:
        """Return the value as a value of another type; fail if that is not possible."""
        return self._make(InlineCast(self.node, data_type_of(data_type)))

    def try_cast(self, data_type: DataType | str) -> Self:
        """Return the value as a value of another type, null if that is not possible."""
        return self._make(InlineCast(self.node, data_type_of(data_type), "TRY_CAST"))
