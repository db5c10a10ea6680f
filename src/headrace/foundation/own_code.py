"""Decide whether a source file belongs to this package; stacks that users see omit such frames.

Compares with the folder of the package, not with a name in the path: a user's project may be called headrace, too.
"""

from __future__ import annotations

import os

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
"""The folder of the package, with a trailing separator."""


def is_own(file_name: str) -> bool:
    """Return whether a file is part of this package.

    >>> is_own(__file__), is_own("/home/ann/headrace/operators/sums.py"), is_own(PACKAGE[:-1] + "_jobs/sums.py")
    (True, False, False)
    """
    return file_name.startswith(PACKAGE)
