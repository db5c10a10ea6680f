"""Read Avro files with fastavro: block by block, records as dicts.

A position is (blocks that were read, records read of the next block). Blocks are skipped without decoding.
"""

from __future__ import annotations

from typing import Any

from headrace.connectors.base.split_reader import Batch, SplitReader
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.foundation.extras import need
from headrace.foundation.file_systems import open_input
from headrace.types.typeinfo import Types


def fastavro() -> Any:
    """Return the module `fastavro`."""
    return need("fastavro", "formats", "Avro")


class AvroRecords(FileFormat):
    """Records of Avro files, read with the schema of the program."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.produced_type = Types.PICKLED_BYTE_ARRAY()

    def open(self, part: FileRange, position: Any) -> SplitReader:
        return _AvroReader(part.path, self.schema, position or (0, 0))


class _AvroReader(SplitReader):
    def __init__(self, path: str, schema: Any, position: tuple[int, int]) -> None:
        self._path = path
        self._stream = open_input(path)
        self._blocks = iter(fastavro().block_reader(self._stream, schema))
        self._block, skipped = position
        for _ in range(self._block):
            next(self._blocks, None)
        self._records: list[Any] = []
        self._next = 0
        self._started = False
        self._load()
        self._next = min(skipped, len(self._records))

    def _load(self) -> None:
        """Advance to the next block that has records."""
        while True:
            if self._started:
                self._block += 1
            self._started, self._next = True, 0
            try:
                block = next(self._blocks, None)
                self._records = [] if block is None else list(block)
            except Exception as error:
                raise unreadable(self._path, error, f", in block {self._block}") from error
            self.finished = block is None
            if self._records or self.finished:
                return

    def read(self, limit: int, now: int) -> Batch:
        values = self._records[self._next : self._next + limit]
        self._next += len(values)
        if self._next >= len(self._records):
            self._load()
        return Batch(values, more=not values and not self.finished)

    def position(self) -> tuple[int, int]:
        return self._block, self._next

    def close(self) -> None:
        self._stream.close()
