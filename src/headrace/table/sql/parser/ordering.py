"""ORDER BY, and the windows of OVER."""

from __future__ import annotations

from headrace.table.sql.parser.literals import Literals
from headrace.table.sql.syntax.expressions import Frame, FrameBound, OrderItem, WindowSpecification


class Ordering(Literals):
    """Rules for order and windows."""

    def order_by(self) -> tuple[OrderItem, ...]:
        """`ORDER BY` with its items."""
        self.need("ORDER", "BY")
        return self.separated(self.order_item)

    def order_item(self) -> OrderItem:
        """An expression to sort by."""
        position = self.token.position
        value = self.expression()
        descending = self.take_any("ASC", "DESC") == "DESC"
        nulls_first = self.need_any("FIRST", "LAST") == "FIRST" if self.take("NULLS") else None
        return OrderItem(value, descending, nulls_first, position=position)

    def window_specification(self) -> WindowSpecification:
        """The contents of the parentheses after OVER, or in a WINDOW clause."""
        position = self.need("(")
        base = self.identifier() if self.is_identifier() else None
        partition_by = self.separated(self.expression) if self.take("PARTITION", "BY") else ()
        order_by = self.order_by() if self.at("ORDER") else ()
        frame = self._frame() if self.at("ROWS", "RANGE") else None
        allow = None
        if (word := self.take_any("ALLOW", "DISALLOW")) is not None:
            self.need("PARTIAL")
            allow = word == "ALLOW"
        self.need(")")
        return WindowSpecification(base, partition_by, order_by, frame, allow, position=position)

    def _frame(self) -> Frame:
        position = self.token.position
        unit = self.advance().key
        if not self.take("BETWEEN"):
            return Frame(unit, self._bound(), position=position)
        start = self._bound()
        self.need("AND")
        return Frame(unit, start, self._bound(), position=position)

    def _bound(self) -> FrameBound:
        position = self.token.position
        if self.take("CURRENT", "ROW"):
            return FrameBound("CURRENT ROW", position=position)
        offset = None if self.take("UNBOUNDED") else self.expression()
        return FrameBound(self.need_any("PRECEDING", "FOLLOWING"), offset, position=position)
