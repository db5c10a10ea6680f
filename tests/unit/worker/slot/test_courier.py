"""What a courier loads: every Python worker of Spark pays for it."""

from __future__ import annotations

import subprocess
import sys

LIST = """
import sys
import headrace.worker.slot.courier
print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("headrace", "dataclasses", "subprocess")))
"""


def test_a_courier_loads_next_to_nothing():
    listed = subprocess.run([sys.executable, "-c", LIST], capture_output=True, text=True, timeout=60, check=True)
    packages = {
        "headrace",
        "headrace.foundation",
        "headrace.worker",
        "headrace.worker.exchange",
        "headrace.worker.slot",
    }
    assert set(listed.stdout.split()) - packages == {
        "headrace.foundation.private_folders",
        "headrace.worker.exchange.frames",
        "headrace.worker.slot.courier",
        "headrace.worker.slot.folder",
        "headrace.worker.slot.placement",
        "headrace.worker.slot.wire",
        "headrace.worker.task_name",
    }
