"""Harm that happens at the n-th time and a few times more, counted over all processes of a trial by files."""

from __future__ import annotations

import os
from pathlib import Path


def nth_times(root: Path | str, harm: str, what: str) -> bool:
    """Whether now is one of the times for it. `harm`: "what:first:times", counted from 1.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [nth_times(folder, "commit:2:1", "commit") for _ in range(3)]
    [False, True, False]
    """
    if not harm.startswith(what + ":"):
        return False
    _, first, times = harm.split(":")
    number = 1
    while True:
        try:
            os.close(os.open(Path(root) / f"harm-{what}-{number:04d}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            number += 1
            if number >= int(first) + int(times):
                return False
            continue
        return int(first) <= number < int(first) + int(times)
