"""Members for numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.analysis.inline import InlinePlus
from headrace.table.api.logic import Logic
from headrace.table.api.operand import node_of, reads
from headrace.table.api.units import TimeIntervalUnit
from headrace.table.sql.syntax import expressions as syntax

if TYPE_CHECKING:
    from typing import Self


class Numbers(Logic):
    """Arithmetic and mathematical functions."""

    def __add__(self, other: Any) -> Self:
        """Return the sum of two values; texts are joined."""
        return self._make(InlinePlus("+", self.node, node_of(other)))

    def __radd__(self, other: Any) -> Self:
        """Return the sum of two values; texts are joined."""
        return self._make(InlinePlus("+", node_of(other), self.node))

    def __sub__(self, other: Any) -> Self:
        """Return the difference of two values."""
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> Self:
        """Return the difference of two values."""
        return self._reversed("-", other)

    def __mul__(self, other: Any) -> Self:
        """Return the product of two values."""
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> Self:
        """Return the product of two values."""
        return self._reversed("*", other)

    def __truediv__(self, other: Any) -> Self:
        """Return the quotient of two values; that of integers is an integer."""
        return self._binary("/", other)

    def __rtruediv__(self, other: Any) -> Self:
        """Return the quotient of two values; that of integers is an integer."""
        return self._reversed("/", other)

    def __mod__(self, other: Any) -> Self:
        """Return the remainder of a division."""
        return self._binary("%", other)

    def __rmod__(self, other: Any) -> Self:
        """Return the remainder of a division."""
        return self._reversed("%", other)

    def __pow__(self, other: Any) -> Self:
        """Return the value raised to a power."""
        return self._call("POWER", other)

    def __rpow__(self, other: Any) -> Self:
        """Return another value raised to this one."""
        return self._make(syntax.Call(("POWER",), (node_of(other), self.node)))

    def __neg__(self) -> Self:
        """Return the value with the other sign."""
        return self._make(syntax.Unary("-", self.node))

    def __pos__(self) -> Self:
        """Return the value."""
        return self

    abs = reads("ABS", "The value without its sign.")
    acos = reads("ACOS", "The arc cosine.")
    asin = reads("ASIN", "The arc sine.")
    atan = reads("ATAN", "The arc tangent.")
    bin = reads("BIN", "The digits of an integer in base 2.")
    cos = reads("COS", "The cosine.")
    cosh = reads("COSH", "The hyperbolic cosine.")
    cot = reads("COT", "The cotangent.")
    degrees = reads("DEGREES", "The angle in degrees, of one in radians.")
    exp = reads("EXP", "e raised to the value.")
    hex = reads("HEX", "The digits of an integer or of the bytes of a text in base 16.")
    ln = reads("LN", "The natural logarithm.")
    log10 = reads("LOG10", "The logarithm to base 10.")
    log2 = reads("LOG2", "The logarithm to base 2.")
    radians = reads("RADIANS", "The angle in radians, of one in degrees.")
    sign = reads("SIGN", "The sign: -1, 0 or 1.")
    sin = reads("SIN", "The sine.")
    sinh = reads("SINH", "The hyperbolic sine.")
    sqrt = reads("SQRT", "The square root.")
    tan = reads("TAN", "The tangent.")
    tanh = reads("TANH", "The hyperbolic tangent.")
    unhex = reads("UNHEX", "The bytes of hexadecimal digits.")

    def log(self, base: Any = None) -> Self:
        """Return the natural logarithm, or the one to a base."""
        if base is None:
            return self._call("LOG")
        return self._make(syntax.Call(("LOG",), (node_of(base), self.node)))

    def round(self, places: Any) -> Self:
        """Return the value rounded to a number of digits after the point."""
        return self._call("ROUND", places)

    def truncate(self, n: Any = 0) -> Self:
        """Return the value cut after a number of digits after the point."""
        return self._call("TRUNCATE", n)

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Self:
        """Return the value rounded up, to an integer or to a unit of time."""
        return self._rounded("CEIL", time_interval_unit)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Self:
        """Return the value rounded down, to an integer or to a unit of time."""
        return self._rounded("FLOOR", time_interval_unit)

    def _rounded(self, name: str, unit: TimeIntervalUnit | None) -> Self:
        unit_node = () if unit is None else (syntax.Symbol(unit.value),)
        return self._make(syntax.Call((name,), (self.node, *unit_node)))
