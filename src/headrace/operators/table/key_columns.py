"""The key groups of whole columns: the same as `key_group` of each row's key, for every type.

Numbers of up to 64 bits, times and ASCII strings are hashed with numpy. Of other types, each distinct value is hashed in
Python. numpy's integers of 32 bits wrap around as Java's do.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.table.batches import numpy, pyarrow
from headrace.state.opaque_key import filed_keys
from headrace.types.sql_map import SqlMap
from headrace.types.stable_hash import stable_hash


def key_groups(arrays: list[Any], rows: int, max_parallelism: int) -> Any:
    """Return the key group of each row, for the columns of its key.

    >>> from headrace.state.key_groups import key_group
    >>> column = pyarrow().array(["a", None, "ä"])
    >>> key_groups([column], 3, 128).tolist() == [key_group(key, 128) for key in ("a", None, "ä")]
    True
    """
    np = numpy()
    if len(arrays) == 1:
        codes = _codes(arrays[0])
    else:
        codes = np.ones(rows, dtype=np.uint32)
        for array in arrays:
            codes = codes * np.uint32(31) + _codes(array)
    return _murmur(codes) % max_parallelism


def _codes(array: Any) -> Any:
    """Return the stable hashes of an array's values, as unsigned integers of 32 bits."""
    np, types = numpy(), pyarrow("pyarrow.types")
    kind = array.type
    if types.is_integer(kind) or types.is_boolean(kind):
        codes = _integers(array, kind)
    elif types.is_null(kind):
        return np.zeros(len(array), dtype=np.uint32)
    elif types.is_nested(kind):
        return _each(_values(array))
    else:
        encoded = array.dictionary_encode()
        distinct = encoded.dictionary
        hashes = _ascii(distinct) if types.is_string(kind) else None
        if hashes is None:
            hashes = _each(_values(distinct))
        places = encoded.indices
        codes = hashes[places.fill_null(0).to_numpy()] if len(distinct) else np.zeros(len(array), dtype=np.uint32)
    return np.where(array.is_valid().to_numpy(zero_copy_only=False), codes, np.uint32(0)) if array.null_count else codes


def _integers(array: Any, kind: Any) -> Any:
    np, types = numpy(), pyarrow("pyarrow.types")
    if types.is_boolean(kind):
        filled = array.fill_null(False) if array.null_count else array
        return filled.to_numpy(zero_copy_only=False).astype(np.uint32)
    numbers = (array.fill_null(0) if array.null_count else array).to_numpy().astype(np.int64, copy=False)
    return (numbers ^ (numbers >> 32)).astype(np.uint32)


def _ascii(strings: Any) -> Any:
    """Return Java's hashes of distinct strings without nulls; None if one of them is not ASCII."""
    np = numpy()
    count = len(strings)
    _, offsets_buffer, data = strings.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32)[strings.offset : strings.offset + count + 1].astype(
        np.int64
    )
    if data is None or offsets[0] == offsets[-1]:
        return np.zeros(count, dtype=np.uint32)
    units = np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]
    if units.max() > 127:
        return None
    offsets -= offsets[0]
    lengths = np.diff(offsets)
    longest = int(lengths.max())
    powers = np.full(longest, 31, dtype=np.uint32)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    exponents = np.repeat(offsets[1:], lengths) - 1 - np.arange(len(units))
    sums = np.zeros(len(units) + 1, dtype=np.uint32)
    np.cumsum(units * powers[exponents], dtype=np.uint32, out=sums[1:])
    return sums[offsets[1:]] - sums[offsets[:-1]]


def _each(values: list[Any]) -> Any:
    np = numpy()
    forms = [getattr(key, "frozen", key) for key in filed_keys(values)]
    return np.array([stable_hash(form) & 0xFFFFFFFF for form in forms], dtype=np.uint32)


def _values(array: Any) -> list[Any]:
    """Return the internal values of an array of any type."""
    values = array.to_pylist()
    if not pyarrow("pyarrow.types").is_nested(array.type):
        return values  # type: ignore[no-any-return]
    return [_internal(value, array.type) for value in values]


def _internal(value: Any, kind: Any) -> Any:
    types = pyarrow("pyarrow.types")
    if value is None or not types.is_nested(kind):
        return value
    if types.is_map(kind):
        return SqlMap((_internal(key, kind.key_type), _internal(each, kind.item_type)) for key, each in value)
    if types.is_struct(kind):
        return tuple(_internal(each, kind.field(i).type) for i, each in enumerate(value.values()))
    return tuple(_internal(each, kind.value_type) for each in value)


def _murmur(codes: Any) -> Any:
    """Return `headrace.types.stable_hash.murmur` of each code."""
    np = numpy()
    u = np.uint32
    codes = codes * u(0xCC9E2D51)
    codes = (codes << u(15)) | (codes >> u(17))
    codes = codes * u(0x1B873593)
    codes = (codes << u(13)) | (codes >> u(19))
    codes = (codes * u(5) + u(0xE6546B64)) ^ u(4)
    codes = (codes ^ (codes >> u(16))) * u(0x85EBCA6B)
    codes = (codes ^ (codes >> u(13))) * u(0xC2B2AE35)
    codes = (codes ^ (codes >> u(16))).astype(np.int32).astype(np.int64)
    return np.where(codes == -0x80000000, 0, np.abs(codes))
