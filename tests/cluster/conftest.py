"""Tests with a cluster of real processes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore = ["cluster_job.py"]  # a program with modules of its own, not a place of doctests
