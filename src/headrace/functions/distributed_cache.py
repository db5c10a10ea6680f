"""DistributedCache: the files that the program registered, as they are found on the machine of a subtask."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headrace.errors import InvalidProgramError


class DistributedCache:
    """What `RuntimeContext.get_distributed_cache` gives.

    >>> DistributedCache({"model": "/tmp/model.bin"}).get_file("model").name
    'model.bin'
    """

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        """Take the paths on this machine by name."""
        self._files = dict(files or {})

    def get_file(self, name: str) -> Path:
        """The path of the file or directory that was registered as `name`."""
        if name not in self._files:
            raise InvalidProgramError(
                f"File with name {name!r} is not available. Did you forget to register the file?",
                expected=f"one of {sorted(self._files)}" if self._files else None,
                remedy=f"call env.register_cached_file(path, {name!r}) before execute()",
            )
        return Path(self._files[name])
