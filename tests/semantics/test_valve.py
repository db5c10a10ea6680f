"""The valve of a vertex gives the answers that Flink's own classes gave, see valve_answers.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.worker.exchange.channels import Valve

LINES = [
    line
    for line in (Path(__file__).parent / "valve_answers.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("line", LINES, ids=[f"{line.split(' |')[0]} {i}" for i, line in enumerate(LINES)])
def test_answers_as_flink_does(line: str):
    head, script = line.split(" | ")
    kind, count = head.split()
    valve = Valve({(0, i): i if kind == "connect" else 0 for i in range(int(count))})
    seen = []
    for part in script.split():
        event = part.split("=")[0]
        answer = _answer(valve, event)
        seen.append(f"{event}={answer}" if answer else event)
    assert seen == script.split()


def _answer(valve: Valve, event: str) -> str:
    channel, what = (0, int(event.split(":")[0])), event.split(":")[1]
    was_idle = valve.all_idle
    risen = valve.set_idle(channel, what == "idle") if what.isalpha() else valve.watermark(channel, int(what))
    said = ["active"] if was_idle and not valve.all_idle else []
    said += [str(risen)] if risen is not None else []
    said += ["idle"] if valve.all_idle and not was_idle else []
    return "+".join(said)
