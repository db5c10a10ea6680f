r"""The bytes of a state file. Version 1.

Decides the layout, and what of a file must be read for given key groups. Never opens files: it makes bytes, and reads
through a function. Called by ``headrace.state.files`` only.

Layout; numbers are big-endian, ``crc32`` is zlib's:

1. preamble, 14 bytes: magic ``HRSTATE\n``, u16 format version, u32 length of the header.
2. header: JSON object with the fields of ``StateHeader``.
3. blocks, back to back. A *keyed* block holds one state of one operator for a run of neighbouring key groups: a pickle
   of four parallel lists ``(groups, counts, entry keys, values)``, where ``counts[i]`` entries belong to ``groups[i]``,
   ascending. A *plain* block holds an operator's plain dict. Runs are cut at group borders at about 1 MB, so that a
   restore with another parallelism reads little that it does not need.
4. index: JSON array, one array per block in the order of the file:
   ``[uid, state name (null: plain), first group, last group, offset, length, crc32, codec]``, sorted by uid, state name
   and key group.
5. footer, 24 bytes: u64 offset of the index, u32 length of the index, u32 checksum, magic ``HRSTEND\n``. The checksum
   is the crc32 of parts 1, 2 and 4 and of the footer's first 12 bytes. As the index holds the crc32 of every block, the
   checksum stands for the whole file.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, NamedTuple

from headrace.common.errors import StateError, shortened
from headrace.state.delta import OperatorState, SubtaskState
from headrace.state.safe_pickle import dump, load
from headrace.state.tombstone import StateDelta

__all__ = ["FORMAT_VERSION", "StateHeader", "decode", "encode", "verify"]

FORMAT_VERSION = 1
_MAGIC = b"HRSTATE\n"
_END_MAGIC = b"HRSTEND\n"
_PREAMBLE = struct.Struct(">8sHI")
_FOOTER_START = struct.Struct(">QI")
_FOOTER = struct.Struct(">QII8s")
_FIRST_RUN = 256  # entries; later runs follow from how many bytes that took
_RUN_BYTES = 1 << 20


@dataclass(frozen=True)
class StateHeader:
    """Who wrote a file, and for what.

    ``kind`` is ``"delta"`` (what an epoch changed) or ``"base"`` (everything). ``attempt`` is unique for each try to
    run the subtask's epoch.

    >>> StateHeader("job", "v1", 0, 3, "a0").kind
    'delta'
    """

    job_id: str
    vertex_id: str
    subtask: int
    epoch: int
    attempt: str
    kind: str = "delta"
    max_parallelism: int = 0


class _Block(NamedTuple):
    uid: str
    state: str | None
    first: int
    last: int
    offset: int
    length: int
    crc: int
    codec: str


ReadAt = Callable[[int, int], bytes]


def _cannot_pickle(uid: str, state: str, keys: list[Any], values: list[Any], error: Exception) -> StateError:
    for key, value in zip(keys, values, strict=True):
        try:
            dump((key, value))
        except Exception as single:
            return StateError(
                f"The state {state!r} cannot be saved: {type(single).__name__}: {single}",
                uid=uid,
                seen=f"{shortened(value)} ({type(value).__name__}) under key {shortened(key)}",
                remedy="keep only picklable values in state: no locks, connections, generators or open files",
            )
    return StateError(f"The state {state!r} cannot be saved: {type(error).__name__}: {error}", uid=uid)


def _keyed_payloads(uid: str, state: str, by_group: StateDelta) -> Iterator[tuple[int, int, str, bytes]]:
    """Give ``(first group, last group, codec, bytes)`` for runs of groups."""
    target = _FIRST_RUN
    waiting = sorted(by_group, reverse=True)
    while waiting:
        groups: list[int] = []
        counts: list[int] = []
        keys: list[Any] = []
        values: list[Any] = []
        while waiting and len(keys) < target:
            group = waiting.pop()
            entries = by_group[group]
            groups.append(group)
            counts.append(len(entries))
            keys += [key for key, _ in entries]
            values += [value for _, value in entries]
        try:
            codec, data = dump((groups, counts, keys, values))
        except Exception as error:
            raise _cannot_pickle(uid, state, keys, values, error) from error
        target = max(1, len(keys) * _RUN_BYTES // max(1, len(data)))
        yield groups[0], groups[-1], codec, data


def encode(header: StateHeader, state: SubtaskState) -> tuple[list[bytes], int]:
    """Give the parts of the file, to be written one after the other, and its checksum."""
    header_bytes = json.dumps(asdict(header), sort_keys=True).encode()
    # 1, 2
    parts = [_PREAMBLE.pack(_MAGIC, FORMAT_VERSION, len(header_bytes)), header_bytes]
    offset = sum(map(len, parts))
    checksum = zlib.crc32(b"".join(parts))
    index: list[_Block] = []

    def add(uid: str, name: str | None, first: int, last: int, codec: str, data: bytes) -> None:
        nonlocal offset
        index.append(_Block(uid, name, first, last, offset, len(data), zlib.crc32(data), codec))
        parts.append(data)
        offset += len(data)

    # 3
    for uid, operator in sorted(state.operators.items()):
        if operator.plain:
            try:
                codec, data = dump(operator.plain)
            except Exception as error:
                names, values = list(operator.plain), list(operator.plain.values())
                raise _cannot_pickle(uid, "operator state", names, values, error) from error
            add(uid, None, 0, 0, codec, data)
        for name, by_group in sorted(operator.keyed.items()):
            for first, last, codec, data in _keyed_payloads(uid, name, by_group):
                add(uid, name, first, last, codec, data)
    # 4
    index_bytes = json.dumps(index, separators=(",", ":")).encode()
    # 5
    footer_start = _FOOTER_START.pack(offset, len(index_bytes))
    checksum = zlib.crc32(footer_start, zlib.crc32(index_bytes, checksum))
    parts += [index_bytes, _FOOTER.pack(offset, len(index_bytes), checksum, _END_MAGIC)]
    return parts, checksum


def _read_frame(size: int, read_at: ReadAt) -> tuple[StateHeader, list[_Block], int]:
    """Check parts 1, 2, 4, 5 and give header, index and checksum."""
    if size < _PREAMBLE.size + _FOOTER.size:
        raise StateError(f"it is too short ({size} bytes)")
    magic, version, header_length = _PREAMBLE.unpack(read_at(0, _PREAMBLE.size))
    if magic != _MAGIC:
        raise StateError("it is not a state file of headrace")
    if version != FORMAT_VERSION:
        raise StateError(f"its format version is {version}; this version of headrace reads {FORMAT_VERSION}")
    footer = read_at(size - _FOOTER.size, _FOOTER.size)
    index_offset, index_length, checksum, end_magic = _FOOTER.unpack(footer)
    blocks_start = _PREAMBLE.size + header_length
    if end_magic != _END_MAGIC or index_offset + index_length + _FOOTER.size != size or blocks_start > index_offset:
        raise StateError("it is truncated or damaged: its end is not where it should be")
    front = read_at(0, blocks_start)
    index_bytes = read_at(index_offset, index_length)
    seen = zlib.crc32(footer[: _FOOTER_START.size], zlib.crc32(index_bytes, zlib.crc32(front)))
    if seen != checksum:
        raise StateError("it is damaged: the checksum of header and index is wrong")
    header = StateHeader(**json.loads(front[_PREAMBLE.size :]))
    index = [_Block(*row) for row in json.loads(index_bytes)]
    return header, index, checksum


def _check(header: StateHeader, checksum: int, wanted_checksum: int | None, expected: dict[str, Any]) -> None:
    if wanted_checksum is not None and wanted_checksum != checksum:
        raise StateError(f"it is another file than the one recorded: checksum {checksum}, not {wanted_checksum}")
    for name, value in expected.items():
        if getattr(header, name) != value:
            raise StateError(f"it is foreign: its {name} is {getattr(header, name)!r}, not {value!r}")


def _entries(payload: Any, key_groups: range | None) -> StateDelta:
    groups, counts, keys, values = payload
    entries = zip(keys, values, strict=True)
    result: StateDelta = {}
    for group, count in zip(groups, counts, strict=True):
        of_group = list(islice(entries, count))
        if key_groups is None or group in key_groups:
            result[group] = of_group
    return result


def decode(
    size: int,
    read_at: ReadAt,
    *,
    checksum: int | None,
    expected: dict[str, Any],
    key_groups: range | None,
    allowed_modules: Collection[str] | None,
    trust_job_code: bool,
) -> tuple[StateHeader, SubtaskState]:
    """Give header and state, with only the blocks read that touch ``key_groups`` (``None``: all).

    Raises ``StateError`` whose message goes on after "the file ... cannot be used: ".
    """
    header, index, seen_checksum = _read_frame(size, read_at)
    _check(header, seen_checksum, checksum, expected)
    state = SubtaskState()
    for block in index:
        operator = state.operators.setdefault(block.uid, OperatorState())
        if block.state is not None and key_groups is not None:
            if block.last < key_groups.start or block.first >= key_groups.stop:
                continue
        data = read_at(block.offset, block.length)
        if len(data) != block.length or zlib.crc32(data) != block.crc:
            raise StateError(f"it is damaged: wrong checksum of {block.state or 'plain state'!r} of {block.uid!r}")
        payload = load(block.codec, data, allowed_modules=allowed_modules, trust_job_code=trust_job_code)
        if block.state is None:
            operator.plain = payload
        else:
            operator.keyed.setdefault(block.state, {}).update(_entries(payload, key_groups))
    return header, state


def verify(size: int, read_at: ReadAt, *, checksum: int) -> StateHeader:
    """Check every byte of a file without making objects of it; give its header.

    Raises ``StateError`` whose message goes on after "the file ... cannot be used: ".
    """
    header, index, seen_checksum = _read_frame(size, read_at)
    _check(header, seen_checksum, checksum, {})
    for block in index:
        if zlib.crc32(read_at(block.offset, block.length)) != block.crc:
            raise StateError(f"it is damaged: wrong checksum of {block.state or 'plain state'!r} of {block.uid!r}")
    return header
