"""DistributedCache: the registered files of a program, on the machine of a subtask."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headrace.errors import InvalidProgramError


class DistributedCache:
    """The files that the program registered with `register_cached_file`.

    >>> DistributedCache({"model": "/tmp/model.bin"}).get_file("model").name
    'model.bin'
    """

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        """Store the paths on this machine, by name."""
        self._files = dict(files or {})

    def get_file(self, name: str) -> Path:
        """Return the path of the file or directory that was registered as `name`."""
        if name not in self._files:
            raise InvalidProgramError(
                f"File with name {name!r} is not available. Did you forget to register the file?",
                expected=f"one of {sorted(self._files)}" if self._files else None,
                remedy=f"call env.register_cached_file(path, {name!r}) before execute()",
            )
        return Path(self._files[name])
