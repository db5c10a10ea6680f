"""Members for arrays, maps, rows and bitmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.analysis.inline import InlineField
from headrace.table.api.nodes import Flattened
from headrace.table.api.operand import Operand, node_of, reads
from headrace.table.sql.syntax import expressions as syntax

if TYPE_CHECKING:
    from typing import Self


class Collections(Operand):
    """Arrays, maps, rows and bitmaps."""

    cardinality = reads("CARDINALITY", "The number of elements.")
    element = reads("ELEMENT", "The only element of an array.")
    map_entries = reads("MAP_ENTRIES", "The entries of a map as an array of rows.")
    map_keys = reads("MAP_KEYS", "The keys of a map.")
    map_values = reads("MAP_VALUES", "The values of a map.")

    @property
    def flatten(self) -> Self:
        """A column for each field of a row."""
        return self._make(Flattened(self.node))

    def at(self, index: Any) -> Self:
        """Return an element of an array, whose first index is 1, or the value of a key of a map."""
        return self._make(syntax.ItemAccess(self.node, node_of(index)))

    def __getitem__(self, index: Any) -> Self:
        """Return an element of an array, whose first index is 1, or the value of a key of a map."""
        return self.at(index)

    def get(self, name_or_index: str | int) -> Self:
        """Return a field of a row, by its name or by its index, which starts with 0."""
        return self._make(InlineField(self.node, name_or_index))

    def array_append(self, addition: Any) -> Self:
        """Return the array with an element at its end."""
        return self._call("ARRAY_APPEND", addition)

    def array_concat(self, *arrays: Any) -> Self:
        """Return arrays as one."""
        return self._call("ARRAY_CONCAT", *arrays)

    def array_contains(self, needle: Any) -> Self:
        """Return whether the array has an element."""
        return self._call("ARRAY_CONTAINS", needle)

    def array_distinct(self) -> Self:
        """Return the array without duplicates."""
        return self._call("ARRAY_DISTINCT")

    def array_except(self, array: Any) -> Self:
        """Return the distinct elements that another array does not have."""
        return self._call("ARRAY_EXCEPT", array)

    def array_intersect(self, array: Any) -> Self:
        """Return the distinct elements that another array also has."""
        return self._call("ARRAY_INTERSECT", array)

    def array_join(self, delimiter: Any, null_replacement: Any = None) -> Self:
        """Return the texts of the array as one."""
        return self._given("ARRAY_JOIN", delimiter, null_replacement)

    def array_max(self) -> Self:
        """Return the greatest element."""
        return self._call("ARRAY_MAX")

    def array_min(self) -> Self:
        """Return the least element."""
        return self._call("ARRAY_MIN")

    def array_position(self, needle: Any) -> Self:
        """Return the index of an element, which starts with 1; 0 if it is not there."""
        return self._call("ARRAY_POSITION", needle)

    def array_prepend(self, addition: Any) -> Self:
        """Return the array with an element at its start."""
        return self._call("ARRAY_PREPEND", addition)

    def array_remove(self, needle: Any) -> Self:
        """Return the array without all elements that equal a value."""
        return self._call("ARRAY_REMOVE", needle)

    def array_reverse(self) -> Self:
        """Return the array backwards."""
        return self._call("ARRAY_REVERSE")

    def array_slice(self, start_offset: Any, end_offset: Any = None) -> Self:
        """Return the elements from one index to another, both included."""
        return self._given("ARRAY_SLICE", start_offset, end_offset)

    def array_sort(self, ascending_order: Any = None, null_first: Any = None) -> Self:
        """Return the array in order."""
        return self._given("ARRAY_SORT", ascending_order, null_first)

    def array_union(self, array: Any) -> Self:
        """Return the distinct elements of two arrays."""
        return self._call("ARRAY_UNION", array)

    def map_union(self, *maps: Any) -> Self:
        """Return maps as one; later ones win."""
        return self._call("MAP_UNION", *maps)

    def object_update(self, *kv: Any) -> Self:
        """Return a structured object with other values of some fields."""
        return self._call("OBJECT_UPDATE", *kv)

    def bitmap_and(self, bitmap2: Any) -> Self:
        """Return the numbers that are in both bitmaps."""
        return self._call("BITMAP_AND", bitmap2)

    def bitmap_andnot(self, bitmap2: Any) -> Self:
        """Return the numbers that are not in another bitmap."""
        return self._call("BITMAP_ANDNOT", bitmap2)

    def bitmap_or(self, bitmap2: Any) -> Self:
        """Return the numbers that are in one of two bitmaps."""
        return self._call("BITMAP_OR", bitmap2)

    def bitmap_xor(self, bitmap2: Any) -> Self:
        """Return the numbers that are in exactly one of two bitmaps."""
        return self._call("BITMAP_XOR", bitmap2)

    def bitmap_build(self) -> Self:
        """Return the bitmap of an array of integers."""
        return self._call("BITMAP_BUILD")

    def bitmap_cardinality(self) -> Self:
        """Return how many numbers a bitmap has."""
        return self._call("BITMAP_CARDINALITY")

    def bitmap_from_bytes(self) -> Self:
        """Return the bitmap of its bytes."""
        return self._call("BITMAP_FROM_BYTES")

    def bitmap_to_array(self) -> Self:
        """Return the numbers of a bitmap as an array."""
        return self._call("BITMAP_TO_ARRAY")

    def bitmap_to_bytes(self) -> Self:
        """Return the bytes of a bitmap."""
        return self._call("BITMAP_TO_BYTES")

    def bitmap_to_string(self) -> Self:
        """Return the numbers of a bitmap as a text."""
        return self._call("BITMAP_TO_STRING")
