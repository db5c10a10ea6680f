"""Ordered bytes on the local disk for the disk backend: the only user of RocksDB (the package ``rocksdict``).

Decides how the database is set up: no log and no fsync, since state is recovered from the state files and this is only working
memory; bounded block cache and write buffers, shared by all databases of the process. Never knows what the bytes mean.
The database is made when it is first needed and removed when the store is closed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from headrace.foundation.extras import require_rocksdict

_BLOCK_BYTES = 4096
_BLOOM_BITS = 10
_shared: dict[int, Any] = {}


class DiskStore:
    """A sorted map of bytes in its own directory.

    >>> import tempfile
    >>> store = DiskStore(Path(tempfile.mkdtemp(), "state"), memory=8 << 20)
    >>> store.get(b"a") is None, store.is_open
    (True, False)
    >>> store.write([(b"ab", b"1"), (b"aa", b"2"), (b"b", b"3")], [])
    >>> list(store.scan(b"a"))
    [(b'aa', b'2'), (b'ab', b'1')]
    >>> store.close()
    """

    __slots__ = ("_database", "_memory", "_module", "_writing", "directory")

    def __init__(self, directory: Path, memory: int) -> None:
        """Take the directory of the database, and the memory limit in bytes of all databases of the process."""
        self.directory = directory
        self._memory = memory
        self._database: Any = None
        self._module: Any = None
        self._writing: Any = None

    @property
    def is_open(self) -> bool:
        """Whether anything was ever written."""
        return self._database is not None

    def get(self, key: bytes) -> bytes | None:
        """Return the value under ``key``."""
        return None if self._database is None else self._database.get(key)

    def write(self, puts: Iterable[tuple[bytes, bytes]], deletes: Iterable[bytes]) -> None:
        """Put and delete entries in one batch."""
        if self._database is None:
            self._open()
        batch = self._module.WriteBatch(raw_mode=True)
        for key, value in puts:
            batch.put(key, value)
        for key in deletes:
            batch.delete(key)
        self._database.write(batch, self._writing)

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries under a prefix in the order of their keys, as they are now, from ``start`` on."""
        if self._database is not None:
            for key, value in self._database.items(from_key=prefix if start is None else start):
                if not key.startswith(prefix):
                    return
                yield key, value

    def close(self) -> None:
        """Remove the database."""
        database, self._database = self._database, None
        if database is not None:
            database.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _open(self) -> None:
        module = self._module = require_rocksdict()
        if self._memory not in _shared:
            # Half for blocks that are read, half for data that is not on disk yet.
            _shared[self._memory] = module.Cache(max(1 << 20, self._memory // 2))
        options = module.Options(raw_mode=True)
        options.create_if_missing(True)
        buffer = max(1 << 20, min(16 << 20, self._memory // 4))
        options.set_write_buffer_size(buffer)
        options.set_max_write_buffer_number(2)
        options.set_compression_type(module.DBCompressionType.lz4())
        options.set_keep_log_file_num(1)
        options.set_max_log_file_size(1 << 20)
        options.set_max_open_files(256)
        tables = module.BlockBasedOptions()
        tables.set_block_cache(_shared[self._memory])
        tables.set_cache_index_and_filter_blocks(True)
        tables.set_pin_l0_filter_and_index_blocks_in_cache(True)
        tables.set_bloom_filter(_BLOOM_BITS, False)
        tables.set_block_size(_BLOCK_BYTES)
        options.set_block_based_table_factory(tables)
        self.directory.mkdir(parents=True, exist_ok=True)
        self._database = module.Rdict(str(self.directory), options)
        self._writing = module.WriteOptions()
        self._writing.disable_wal = True
