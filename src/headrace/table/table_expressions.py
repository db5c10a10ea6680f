"""Expressions of the Table API as the syntax tree that the analyser of SQL understands.

Names of windows, choices of columns, tables inside expressions and the program's own functions are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.table.analysis.errors import invalid, unknown
from headrace.table.analysis.inline import InlineCall, InlineQuery, InlineRows
from headrace.table.api import nodes
from headrace.table.api.operand import Operand
from headrace.table.sql.syntax import expressions as syntax
from headrace.table.table_names import chosen
from headrace.table.user_functions import user_function
from headrace.table.window import GroupWindow, OverWindow


def given_node(given: Any, what: str) -> syntax.Expression:
    """Return the node of an argument of a table's method; a text is the name of a column."""
    if isinstance(given, Operand):
        return given.node
    if isinstance(given, str):
        return syntax.Identifier((given,))
    from headrace.table.api.literals import constant

    if given is None or isinstance(given, type) or callable(given):
        raise InvalidProgramError(
            f"{what} takes expressions, not {type(given).__name__}", remedy="use col('name'), lit(value) or table.name"
        )
    return constant(given)


@dataclass(frozen=True)
class Translation:
    """What nodes mean for the columns of a table and the windows of a query."""

    columns: Sequence[str]
    windows: Mapping[str, GroupWindow] = field(default_factory=dict)
    over_windows: Mapping[str, OverWindow] = field(default_factory=dict)
    tables: Any = None
    """The TableEnvironment of the query, to which tables inside expressions must belong."""

    def all(self, given: Sequence[syntax.Expression]) -> tuple[syntax.Expression, ...]:
        """Return nodes, with the columns of choices in their place."""
        found: list[syntax.Expression] = []
        for node in given:
            names = chosen(node, self.columns)
            if names is None:
                found.append(self.one(node))
            else:
                found += [syntax.Identifier((name,)) for name in names]
        return tuple(found)

    def one(self, node: syntax.Expression) -> syntax.Expression:
        """Return a node without the parts that only the Table API has."""
        match node:
            case nodes.Named():
                return self.one(node.value)
            case nodes.WindowProperty():
                return self._property(node)
            case nodes.OverAlias():
                return self._over(node)
            case nodes.UserCall():
                return self._user_call(node)
            case syntax.In(candidates=(nodes.TableQuery() as query,)):
                if query.table.t_env is not self.tables:
                    raise InvalidProgramError("Only tables from the same TableEnvironment can be combined.")
                return replace(node, value=self.one(node.value), candidates=InlineQuery(query.table.relation))
            case nodes.Ordered():
                raise invalid("asc and desc may only be used in order_by")
            case nodes.Flattened():
                raise invalid("flatten may only be used in select, not inside another expression")
            case nodes.Bound():
                raise invalid("UNBOUNDED_ROW, CURRENT_ROW and the like may only be bounds of an OVER window")
        if chosen(node, self.columns) is not None:
            raise invalid("A choice of columns is only possible in a list of expressions")
        return self._inside(node)

    def _inside(self, node: syntax.Expression) -> syntax.Expression:
        changed = {}
        for each in fields(node):
            value = getattr(node, each.name)
            found = self._value(value)
            if found is not value:
                changed[each.name] = found
        return replace(node, **changed) if changed else node

    def _value(self, value: Any) -> Any:
        if isinstance(value, syntax.Expression):
            return self.one(value)
        if not isinstance(value, tuple) or not value:
            return value
        if all(isinstance(each, syntax.Expression) for each in value):
            return self.all(value)
        return tuple(self._value(each) for each in value)

    # -- windows ------------------------------------------------------------------------------------------------------

    def group_window(self, name: str, part: str = "") -> syntax.Expression:
        """Return the call behind a group window, or behind a property of it."""
        window = self.windows[name]
        function = f"{window.kind}_{part.upper()}" if part else window.kind
        return syntax.Call((function,), (self.one(window.time), *map(self.one, window.sizes)))

    def _property(self, node: nodes.WindowProperty) -> syntax.Expression:
        name = node.window.names[-1] if isinstance(node.window, syntax.Identifier) else None
        if name is None or not self.windows:
            raise invalid(f".{node.part} is a property of a window; use it in select() after window() and group_by()")
        if name not in self.windows:
            raise unknown("window", name, list(self.windows), -1)
        return self.group_window(name, node.part)

    def _over(self, node: nodes.OverAlias) -> syntax.Expression:
        if not isinstance(node.window, syntax.Identifier):
            raise invalid("over takes the name of an OVER window, as in over(col('w'))")
        name = node.window.names[-1]
        if name not in self.over_windows:
            raise unknown("OVER window", name, list(self.over_windows), -1)
        window = self.over_windows[name]
        order = window.order
        descending = isinstance(order, nodes.Ordered) and order.descending
        by = order.value if isinstance(order, nodes.Ordered) else order
        specification = syntax.WindowSpecification(
            partition_by=self.all(window.partition),
            order_by=(syntax.OrderItem(self.one(by), descending),),
            frame=self._frame(window),
        )
        return syntax.Over(self.one(node.call), specification)

    def _frame(self, window: OverWindow) -> syntax.Frame:
        start = window.preceding or nodes.Bound(True, "RANGE")
        unit = _unit(start)
        end = window.following or nodes.Bound(False, unit)
        if _unit(end) != unit:
            raise invalid("The bounds of an OVER window must both be rows, or both be times")
        return syntax.Frame(unit, self._bound(start, "PRECEDING"), self._bound(end, "FOLLOWING"))

    def _bound(self, node: syntax.Expression, kind: str) -> syntax.FrameBound:
        match node:
            case nodes.Bound(unbounded=True):
                return syntax.FrameBound(kind)
            case nodes.Bound():
                return syntax.FrameBound("CURRENT ROW")
            case InlineRows():
                return syntax.FrameBound(kind, syntax.Literal("INTEGER", node.rows))
        return syntax.FrameBound(kind, self.one(node))

    # -- functions ----------------------------------------------------------------------------------------------------

    def _user_call(self, node: nodes.UserCall) -> syntax.Expression:
        name = node.function.get_name() if hasattr(node.function, "get_name") else type(node.function).__name__
        function = user_function(name, node.function)
        quantifier = "DISTINCT" if node.distinct else None
        return InlineCall((name,), self.all(node.arguments), quantifier, function=function)


def _unit(node: syntax.Expression) -> str:
    if isinstance(node, nodes.Bound):
        return node.unit
    return "ROWS" if isinstance(node, InlineRows) else "RANGE"
