"""Makes the kits of the planner's tests and of the random queries importable by their names."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
for kit in (str(_HERE), str(_HERE.parent / "unit" / "table" / "plan")):
    if kit not in sys.path:
        sys.path.insert(0, kit)

collect_ignore = ["flink", "nexmark/record.py", "verdicts/record.py"]  # runs with another Python, by hand
