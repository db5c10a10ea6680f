r"""The bytes of a state file. Version 2; version 1 is still read.

Decides the layout, and which parts of a file must be read for given key groups. Never opens files: it makes bytes, and reads
through a function. Called by ``headrace.state.files`` only.

Layout; numbers are big-endian:

1. preamble, 14 bytes: magic ``HRSTATE\n``, u16 format version, u32 length of the header.
2. header: JSON object with the fields of ``StateHeader``.
3. blocks, back to back. A *keyed* block holds one state of one operator for a run of neighbouring key groups: a pickle
   of four parallel lists ``(groups, counts, entry keys, values)``, where ``counts[i]`` entries belong to ``groups[i]``,
   ascending. A *plain* block holds an operator's plain dict. Runs are cut at about 1 MB, so that a restore with another
   parallelism reads little that it does not need, and neither writing nor reading holds more than a run in memory.
4. index: JSON array, one array per block in the order of the file:
   ``[uid, state name (null: plain), first group, last group, offset, length, digest, codec]``, sorted by uid, state name
   and key group. The digest is the SHA-256 of the block in hex.
5. footer, 52 bytes: u64 offset of the index, u32 length of the index, 32 bytes checksum, magic ``HRSTEND\n``. The checksum
   is the SHA-256 of parts 1, 2 and 4 and of the footer's first 12 bytes. Because the index contains the digest of every
   block, the checksum covers the whole file: with the checksum from a signed manifest, each block is verified before it is
   unpickled, without reading the file twice.

Version 1 differs in its checksums: zlib's crc32, as numbers, and 4 bytes in the footer. They detect accidents, but a file
can be forged to match them: `is_strong` distinguishes the two.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from headrace.errors import StateError, shortened
from headrace.state.safe_pickle import dump, load
from headrace.state.tombstone import KeyedDelta, StateDelta


@dataclass
class OperatorState:
    """The saved state of one operator.

    ``keyed`` holds state name -> key group -> entries (``TOMBSTONE`` as a value deletes). ``plain`` holds anything else
    by name (operator state, kinds of states, watermarks of channels); a name in a later file replaces the earlier
    value as a whole, and a name that is missing there keeps it.

    >>> OperatorState(plain={"watermark": 5}).plain
    {'watermark': 5}
    """

    keyed: KeyedDelta = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)


@dataclass
class SubtaskState:
    """The saved state of one subtask: that of its operators by uid.

    >>> SubtaskState({"count": OperatorState()}).operators["count"].keyed
    {}
    """

    operators: dict[str, OperatorState] = field(default_factory=dict)


FORMAT_VERSION = 2
_MAGIC = b"HRSTATE\n"
_END_MAGIC = b"HRSTEND\n"
_PREAMBLE = struct.Struct(">8sHI")
_FOOTER_START = struct.Struct(">QI")
_FOOTER = struct.Struct(">QI32s8s")
_FOOTERS = {1: struct.Struct(">QI4s8s"), 2: _FOOTER}
_FIRST_RUN = 256  # entries; the size of later runs follows from their bytes
_RUN_BYTES = 1 << 20


@dataclass(frozen=True)
class StateHeader:
    """The origin and the kind of a file.

    ``kind`` is ``"delta"`` (the changes of an epoch) or ``"base"`` (everything). ``attempt`` is unique for each
    attempt to run the subtask's epoch.

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
    digest: str | int
    codec: str


ReadAt = Callable[[int, int], bytes]
Wanted = Callable[[str, str | None], bool]


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


class _Run:
    """Entries of neighbouring key groups of one state, written as one block."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.counts: list[int] = []
        self.keys: list[Any] = []
        self.values: list[Any] = []

    def add(self, group: int, entries: list[tuple[Any, Any]]) -> None:
        self.groups.append(group)
        self.counts.append(len(entries))
        self.keys += [key for key, _ in entries]
        self.values += [value for _, value in entries]

    def payload(self, uid: str, state: str) -> tuple[int, int, str, bytes]:
        """Return ``(first group, last group, codec, bytes)``."""
        try:
            codec, data = dump((self.groups, self.counts, self.keys, self.values))
        except Exception as error:
            raise _cannot_pickle(uid, state, self.keys, self.values, error) from error
        return self.groups[0], self.groups[-1], codec, data


def _keyed_payloads(uid: str, state: str, by_group: StateDelta) -> Iterator[tuple[int, int, str, bytes]]:
    """Return the blocks of one state. Entries are read on demand: the whole state is never in memory."""
    target = _FIRST_RUN
    run = _Run()
    for group in sorted(by_group):
        entries = iter(by_group[group])
        while chunk := list(islice(entries, target - len(run.keys))):
            run.add(group, chunk)
            if len(run.keys) >= target:
                payload = run.payload(uid, state)
                yield payload
                target = max(1, len(run.keys) * _RUN_BYTES // max(1, len(payload[3])))
                run = _Run()
    if run.keys:
        yield run.payload(uid, state)


def encode(header: StateHeader, state: SubtaskState) -> Iterator[bytes]:
    """Return the parts of the file, to be written one after the other; `checksum_in` finds the checksum in the last one."""
    header_bytes = json.dumps(asdict(header), sort_keys=True).encode()
    # 1, 2
    front = _PREAMBLE.pack(_MAGIC, FORMAT_VERSION, len(header_bytes)) + header_bytes
    yield front
    offset = len(front)
    index: list[_Block] = []
    # 3
    for uid, name, first, last, codec, data in _payloads(state):
        index.append(_Block(uid, name, first, last, offset, len(data), hashlib.sha256(data).hexdigest(), codec))
        yield data
        offset += len(data)
    # 4
    index_bytes = json.dumps(index, separators=(",", ":")).encode()
    yield index_bytes
    # 5
    footer_start = _FOOTER_START.pack(offset, len(index_bytes))
    checksum = hashlib.sha256(front + index_bytes + footer_start).digest()
    yield _FOOTER.pack(offset, len(index_bytes), checksum, _END_MAGIC)


def checksum_in(last_part: bytes) -> int:
    """Return the checksum of a file from its last part."""
    return int.from_bytes(_FOOTER.unpack(last_part)[2], "big")


def is_strong(checksum: int) -> bool:
    """Return whether a checksum cannot be matched by a forged file.

    >>> is_strong(0xFFFFFFFF), is_strong(1 << 250)
    (False, True)
    """
    return checksum >> 32 != 0


def _payloads(state: SubtaskState) -> Iterator[tuple[str, str | None, int, int, str, bytes]]:
    for uid, operator in sorted(state.operators.items()):
        if operator.plain:
            try:
                codec, data = dump(operator.plain)
            except Exception as error:
                names, values = list(operator.plain), list(operator.plain.values())
                raise _cannot_pickle(uid, "operator state", names, values, error) from error
            yield uid, None, 0, 0, codec, data
        for name, by_group in sorted(operator.keyed.items()):
            for payload in _keyed_payloads(uid, name, by_group):
                yield uid, name, *payload


def _read_frame(size: int, read_at: ReadAt) -> tuple[StateHeader, list[_Block], int]:
    """Check parts 1, 2, 4, 5. Return header, index and checksum."""
    if size < _PREAMBLE.size:
        raise StateError(f"it is too short ({size} bytes)")
    magic, version, header_length = _PREAMBLE.unpack(read_at(0, _PREAMBLE.size))
    if magic != _MAGIC:
        raise StateError("it is not a state file of headrace")
    if version not in _FOOTERS:
        raise StateError(f"its format version is {version}; this version of headrace reads up to {FORMAT_VERSION}")
    layout = _FOOTERS[version]
    if size < _PREAMBLE.size + layout.size:
        raise StateError(f"it is too short ({size} bytes)")
    footer = read_at(size - layout.size, layout.size)
    index_offset, index_length, checksum, end_magic = layout.unpack(footer)
    blocks_start = _PREAMBLE.size + header_length
    if end_magic != _END_MAGIC or index_offset + index_length + layout.size != size or blocks_start > index_offset:
        raise StateError("it is truncated or damaged: its end is not where it should be")
    front = read_at(0, blocks_start)
    index_bytes = read_at(index_offset, index_length)
    if _sum_of(version, front + index_bytes + footer[: _FOOTER_START.size]) != checksum:
        raise StateError("it is damaged: the checksum of header and index is wrong")
    header = StateHeader(**json.loads(front[_PREAMBLE.size :]))
    index = [_Block(*row) for row in json.loads(index_bytes)]
    return header, index, int.from_bytes(checksum, "big")


def _sum_of(version: int, data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "big") if version == 1 else hashlib.sha256(data).digest()


def _is_damaged(block: _Block, data: bytes) -> bool:
    seen = zlib.crc32(data) if isinstance(block.digest, int) else hashlib.sha256(data).hexdigest()
    return len(data) != block.length or seen != block.digest


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
    wanted: Wanted | None = None,
) -> Iterator[tuple[str, OperatorState]]:
    """Return the state block by block, as ``(uid, part of the operator's state)``, of ``key_groups`` only (``None``: all).

    ``wanted(uid, state name or None for plain state)`` decides which blocks are read (``None``: all).

    Raise ``StateError`` whose message continues "the file ... cannot be used: ".
    """
    header, index, seen_checksum = _read_frame(size, read_at)
    _check(header, seen_checksum, checksum, expected)
    for block in index:
        if wanted is not None and not wanted(block.uid, block.state):
            continue
        if block.state is not None and key_groups is not None:
            if block.last < key_groups.start or block.first >= key_groups.stop:
                yield block.uid, OperatorState()
                continue
        data = read_at(block.offset, block.length)
        if _is_damaged(block, data):
            raise StateError(f"it is damaged: wrong checksum of {block.state or 'plain state'!r} of {block.uid!r}")
        payload = load(block.codec, data, allowed_modules=allowed_modules, trust_job_code=trust_job_code)
        if block.state is None:
            yield block.uid, OperatorState(plain=dict(payload))
        else:
            yield block.uid, OperatorState(keyed={block.state: _entries(payload, key_groups)})


def verify(size: int, read_at: ReadAt, *, checksum: int) -> StateHeader:
    """Check every byte of a file without loading it. Return its header.

    Raise ``StateError`` whose message continues "the file ... cannot be used: ".
    """
    header, index, seen_checksum = _read_frame(size, read_at)
    _check(header, seen_checksum, checksum, {})
    for block in index:
        if _is_damaged(block, read_at(block.offset, block.length)):
            raise StateError(f"it is damaged: wrong checksum of {block.state or 'plain state'!r} of {block.uid!r}")
    return header
