"""Small part files put together before they become visible.

1. A part that was closed is *held*: a hidden file, named in the writer's state, until its bucket is due.
2. Due: enough bytes are held in the bucket, enough checkpoints have passed, or the input has ended.
3. The held files of a bucket become one file, `compacted-NAME`; that one is pending, and committed like any part. The
   held ones are removed with the commit: a handle that is aborted leaves them to the state that counts on them.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from headrace.connectors.files import remote
from headrace.connectors.files.parts import PartName
from headrace.errors import JobExecutionError
from headrace.foundation.file_systems import open_input


@dataclass(frozen=True)
class Compaction:
    """When files are put together, and how: with a delimiter between them, or by what reads and writes them anew (`rewrite`).

    `single`: there must be only one.
    """

    size_threshold: int = -1
    checkpoints: int = -1
    delimiter: bytes = b""
    single: bool = False
    rewrite: Callable[[Sequence[str], BinaryIO], None] | None = None


def found_again(file: dict[str, Any], folder: str) -> dict[str, Any]:
    """A held file of a predecessor; if it was on a machine that is gone, its uploaded copy, fetched into `folder`."""
    if "copy" not in file or os.path.exists(file["from"]):
        return file
    path = os.path.join(folder, f"{os.path.basename(file['copy'])}.{uuid.uuid4().hex}")
    with open_input(file["copy"]) as source, open(path, "xb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    return {**file, "from": path}


class Held:
    """The held files of one writer: payloads of parts, by bucket."""

    def __init__(self, rules: Compaction) -> None:
        self._rules = rules
        self._files: dict[str, list[dict[str, Any]]] = {}
        self._checkpoints = 0

    def add(self, bucket: str, payload: dict[str, Any]) -> None:
        self._files.setdefault(bucket, []).append(payload)

    def state(self, upload: bool = False) -> list[dict[str, Any]]:
        """What a successor goes on with. `upload`: it may have to do without the local files."""
        if upload:
            for file in (file for files in self._files.values() for file in files):
                if "copy" not in file:
                    file["copy"] = remote.upload(file["from"], file["to"])
        return [{"bucket": bucket, "held": file} for bucket, files in self._files.items() for file in files]

    def due(self, checkpointing: bool, last: bool) -> list[str]:
        """The buckets whose files are to be put together now."""
        rules = self._rules
        self._checkpoints += checkpointing
        if last or (0 < rules.checkpoints <= self._checkpoints):
            self._checkpoints = 0
            return list(self._files)
        if rules.size_threshold < 0:
            return []
        sizes = {bucket: sum(os.path.getsize(f["from"]) for f in files) for bucket, files in self._files.items()}
        return [bucket for bucket, size in sizes.items() if size >= rules.size_threshold]

    def put_together(self, bucket: str) -> dict[str, Any]:
        """The payload of the one file that all files of a bucket become."""
        files = self._files.pop(bucket)
        if self._rules.single and len(files) > 1:
            raise JobExecutionError(
                "identical_file_compactor() takes one file at a time",
                seen=f"{len(files)} files in bucket {bucket!r}",
                remedy="use concat_file_compactor()",
            )
        folder, name = os.path.split(files[0]["to"])
        target = PartName(os.path.dirname(files[0]["from"]), f"compacted-{name}", folder)
        path = target.in_progress()
        with open(path, "xb") as output:
            if self._rules.rewrite is not None:
                self._rules.rewrite([file["from"] for file in files], output)
            else:
                self._concatenate(files, output)
            output.flush()
            os.fsync(output.fileno())
        copies = [file["copy"] for file in files if "copy" in file]
        parts = [gone for file in files for gone in (file["from"], *file.get("of", ()))]
        return {"from": path, "to": target.final, "of": [*parts, *copies]}

    def _concatenate(self, files: list[dict[str, Any]], output: BinaryIO) -> None:
        for index, file in enumerate(files):
            if index:
                output.write(self._rules.delimiter)
            with open(file["from"], "rb") as source:
                shutil.copyfileobj(source, output, 1 << 20)
