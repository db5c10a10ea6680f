"""Makes the kit of the planner's tests importable by its name."""

from __future__ import annotations

import sys
from pathlib import Path

_KIT = str(Path(__file__).resolve().parent.parent / "unit" / "table" / "plan")
if _KIT not in sys.path:
    sys.path.insert(0, _KIT)

collect_ignore = ["flink"]  # runs with another Python, by hand
