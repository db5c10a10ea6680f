"""Makes the transcript kit importable by its name, here and in the worker processes of Spark (which get this path)."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = str(Path(__file__).resolve().parent)
if _HERE not in sys.path:
    sys.path.insert(0, _HERE)

collect_ignore = ["flink"]  # runs with another Python, by hand
