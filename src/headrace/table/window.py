"""Windows of the Table API: groups of rows by time or count (Tumble, Slide, Session) and OVER windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.table.api.operand import node_of
from headrace.table.expression import Expression
from headrace.table.sql.syntax import expressions as syntax

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


def _column(given: Expression | str) -> syntax.Expression:
    return syntax.Identifier((given,)) if isinstance(given, str) else node_of(given)


def _name(alias: Expression | str) -> str:
    node = _column(alias)
    if not isinstance(node, syntax.Identifier):
        raise TypeMismatchError("The alias of a window is a name", seen=alias, expected="such as alias('w')")
    return node.names[-1]


def _size(given: Any, what: str) -> syntax.Expression:
    if not isinstance(given, Expression):
        raise TypeMismatchError(
            f"{what} is an interval or a number of rows", seen=given, expected="lit(10).minutes or row_interval(10)"
        )
    return given.node


@dataclass(frozen=True)
class GroupWindow:
    """A window over groups, with the name under which `group_by` and `select` use it.

    `sizes` are in the order of SQL: that of a sliding window comes after its slide.
    """

    kind: str
    sizes: tuple[syntax.Expression, ...]
    time: syntax.Expression
    name: str


@dataclass(frozen=True)
class _OnTime:
    kind: str
    sizes: tuple[syntax.Expression, ...]
    time: syntax.Expression

    def alias(self, alias: str | Expression) -> GroupWindow:
        """Give the window a name."""
        return GroupWindow(self.kind, self.sizes, self.time, _name(alias))


class TumbleWithSizeOnTime(_OnTime):
    """A tumbling window without a name."""


class SlideWithSizeAndSlideOnTime(_OnTime):
    """A sliding window without a name."""


class SessionWithGapOnTime(_OnTime):
    """A session window without a name."""


@dataclass(frozen=True)
class TumbleWithSize:
    """A tumbling window without its time."""

    size: syntax.Expression

    def on(self, time_field: Expression) -> TumbleWithSizeOnTime:
        """Choose the time attribute."""
        return TumbleWithSizeOnTime("TUMBLE", (self.size,), _column(time_field))


class Tumble:
    """Windows of a fixed size, one after the other.

    >>> from headrace.table.expressions import col, lit
    >>> Tumble.over(lit(10).minutes).on(col("ts")).alias("w").kind
    'TUMBLE'
    """

    @classmethod
    def over(cls, size: Expression) -> TumbleWithSize:
        """Choose the size: an interval or a number of rows."""
        return TumbleWithSize(_size(size, "The size of a window"))


@dataclass(frozen=True)
class SlideWithSizeAndSlide:
    """A sliding window without its time."""

    size: syntax.Expression
    slide: syntax.Expression

    def on(self, time_field: Expression) -> SlideWithSizeAndSlideOnTime:
        """Choose the time attribute."""
        return SlideWithSizeAndSlideOnTime("HOP", (self.slide, self.size), _column(time_field))


@dataclass(frozen=True)
class SlideWithSize:
    """A sliding window without its slide."""

    size: syntax.Expression

    def every(self, slide: Expression) -> SlideWithSizeAndSlide:
        """Choose how far one window is from the next."""
        return SlideWithSizeAndSlide(self.size, _size(slide, "The slide of a window"))


class Slide:
    """Windows of a fixed size that overlap."""

    @classmethod
    def over(cls, size: Expression) -> SlideWithSize:
        """Choose the size: an interval or a number of rows."""
        return SlideWithSize(_size(size, "The size of a window"))


@dataclass(frozen=True)
class SessionWithGap:
    """A session window without its time."""

    gap: syntax.Expression

    def on(self, time_field: Expression) -> SessionWithGapOnTime:
        """Choose the time attribute."""
        return SessionWithGapOnTime("SESSION", (self.gap,), _column(time_field))


class Session:
    """Windows that end after a time without rows."""

    @classmethod
    def with_gap(cls, gap: Expression) -> SessionWithGap:
        """Choose the time without rows: an interval."""
        return SessionWithGap(_size(gap, "The gap of a window"))


# -- OVER -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OverWindow:
    """An OVER window, with the name under which `over` uses it. A bound is None if it is not chosen."""

    partition: tuple[syntax.Expression, ...]
    order: syntax.Expression
    preceding: syntax.Expression | None
    following: syntax.Expression | None
    name: str


@dataclass(frozen=True)
class OverWindowPartitionedOrderedPreceding:
    """An OVER window that needs its name, and may get its end."""

    partition: tuple[syntax.Expression, ...]
    order: syntax.Expression
    start: syntax.Expression
    end: syntax.Expression | None = None

    def following(self, following: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Choose the end: CURRENT_ROW, CURRENT_RANGE, or as in `preceding`."""
        bound = _size(following, "The end of an OVER window")
        return OverWindowPartitionedOrderedPreceding(self.partition, self.order, self.start, bound)

    def alias(self, alias: str | Expression) -> OverWindow:
        """Give the window a name."""
        return OverWindow(self.partition, self.order, self.start, self.end, _name(alias))


@dataclass(frozen=True)
class OverWindowPartitionedOrdered:
    """An OVER window that needs its name, and may get its start."""

    partition: tuple[syntax.Expression, ...]
    order: syntax.Expression

    def preceding(self, preceding: Expression) -> OverWindowPartitionedOrderedPreceding:
        """Choose the start: UNBOUNDED_ROW, UNBOUNDED_RANGE, an interval or a number of rows."""
        bound = _size(preceding, "The start of an OVER window")
        return OverWindowPartitionedOrderedPreceding(self.partition, self.order, bound)

    def alias(self, alias: str | Expression) -> OverWindow:
        """Give the window a name. It starts at the first row."""
        return OverWindow(self.partition, self.order, None, None, _name(alias))


@dataclass(frozen=True)
class OverWindowPartitioned:
    """An OVER window without its order."""

    partition: tuple[syntax.Expression, ...]

    def order_by(self, order_by: Expression) -> OverWindowPartitionedOrdered:
        """Choose the time attribute by which rows are in order."""
        return OverWindowPartitionedOrdered(self.partition, _column(order_by))


class Over:
    """Windows of the rows before each row."""

    @classmethod
    def order_by(cls, order_by: Expression) -> OverWindowPartitionedOrdered:
        """Choose the time attribute by which all rows are in order."""
        return OverWindowPartitionedOrdered((), _column(order_by))

    @classmethod
    def partition_by(cls, *partition_by: Expression) -> OverWindowPartitioned:
        """Choose the columns whose values divide rows."""
        return OverWindowPartitioned(tuple(_column(each) for each in partition_by))
