"""Members for aggregates over groups and windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError
from headrace.table.api.nodes import OverAlias, UserCall
from headrace.table.api.operand import Operand, node_of, reads
from headrace.table.sql.syntax import expressions as syntax

if TYPE_CHECKING:
    from typing import Self


class Aggregates(Operand):
    """Aggregate functions."""

    array_agg = reads("ARRAY_AGG", "The values of a group as an array.")
    avg = reads("AVG", "The mean of a group.")
    collect = reads("COLLECT", "The values of a group as a multiset.")
    count = reads("COUNT", "The number of values of a group that are not null.")
    first_value = reads("FIRST_VALUE", "The first value of a group.")
    last_value = reads("LAST_VALUE", "The last value of a group.")
    max = reads("MAX", "The greatest value of a group.")
    min = reads("MIN", "The least value of a group.")
    stddev_pop = reads("STDDEV_POP", "The standard deviation of a group that is the whole population.")
    stddev_samp = reads("STDDEV_SAMP", "The standard deviation of a group that is a sample.")
    sum = reads("SUM", "The sum of a group; null if it has no values.")
    sum0 = reads("$SUM0", "The sum of a group; 0 if it has no values.")
    var_pop = reads("VAR_POP", "The variance of a group that is the whole population.")
    var_samp = reads("VAR_SAMP", "The variance of a group that is a sample.")

    @property
    def distinct(self) -> Self:
        """The aggregate over distinct values."""
        if isinstance(self.node, syntax.Call):
            return self._make(replace(self.node, quantifier="DISTINCT"))
        if isinstance(self.node, UserCall):
            return self._make(replace(self.node, distinct=True))
        raise InvalidProgramError("distinct follows an aggregate function, as in col('a').sum.distinct")

    def list_agg(self, separator: Any = None) -> Self:
        """Return the texts of a group as one."""
        return self._given("LISTAGG", separator)

    def percentile(self, percentage: Any, frequency: Any = None) -> Self:
        """Return the value below which a share of a group lies."""
        return self._given("PERCENTILE", percentage, frequency)

    def over(self, alias: Any) -> Self:
        """Return the aggregate over an OVER window, by the name that `over_window` gave it."""
        window = syntax.Identifier((alias,)) if isinstance(alias, str) else node_of(alias)
        return self._make(OverAlias(self.node, window))

    def bitmap_and_agg(self) -> Self:
        """Return the numbers that are in all bitmaps of a group."""
        return self._call("BITMAP_AND_AGG")

    def bitmap_and_cardinality_agg(self) -> Self:
        """Return how many numbers are in all bitmaps of a group."""
        return self._call("BITMAP_AND_CARDINALITY_AGG")

    def bitmap_build_agg(self) -> Self:
        """Return the bitmap of the numbers of a group."""
        return self._call("BITMAP_BUILD_AGG")

    def bitmap_build_cardinality_agg(self) -> Self:
        """Return how many distinct numbers a group has."""
        return self._call("BITMAP_BUILD_CARDINALITY_AGG")

    def bitmap_or_agg(self) -> Self:
        """Return the numbers that are in a bitmap of a group."""
        return self._call("BITMAP_OR_AGG")

    def bitmap_or_cardinality_agg(self) -> Self:
        """Return how many numbers are in a bitmap of a group."""
        return self._call("BITMAP_OR_CARDINALITY_AGG")

    def bitmap_xor_agg(self) -> Self:
        """Return the numbers that are in an odd number of bitmaps of a group."""
        return self._call("BITMAP_XOR_AGG")

    def bitmap_xor_cardinality_agg(self) -> Self:
        """Return how many numbers are in an odd number of bitmaps of a group."""
        return self._call("BITMAP_XOR_CARDINALITY_AGG")
