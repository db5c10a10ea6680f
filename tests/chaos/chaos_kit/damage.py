"""Files that rot: a job is killed, one of its files is changed, and the next driver must notice, or need not care.

What counts is the decision table of docs/internals/checkpoint-protocol.md: a manifest that cannot be used, or a state file
that it lists, is refused by name, or the job goes back where nobody has seen anything yet. After a refusal the file is repaired:
nothing else must have been touched, so the job goes on and its output is exact.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from chaos_kit import workload
from chaos_kit.plans import TrialPlan, at
from chaos_kit.trials import Trial
from headrace.foundation.faultpoints import POINTS

WAYS = ("truncate", "flip", "zero", "swap", "foreign", "missing")
_FOLDERS = ("slots", "slots", "state", "state", "state", "markers", "plans", "generations")


def draw_damage(campaign: int, number: int) -> TrialPlan:
    """The plan of a trial: where the driver dies, what is changed, and how."""
    chance = random.Random(f"damage/{campaign}/{number}")
    params: dict[str, Any] = {
        "seed": chance.randrange(1 << 30),
        "records": 120,
        "parallelism": 2,
        "settings": {
            "execution.checkpointing.num-retained": chance.choice((1, 3)),
            "execution.checkpointing.interval": "10 ms",
        },
    }
    point = chance.choice([p for p in POINTS if not p.startswith("gen")])
    way, folder = WAYS[number % len(WAYS)], _FOLDERS[number // len(WAYS) % len(_FOLDERS)]
    return TrialPlan("damage", params["seed"], params, (at(chance, point, epochs=5),), f"{way} {folder}")


class DamageTrial(Trial):
    """Kills once, damages one file, starts again, mends it if that was refused, and lets the job finish."""

    def __init__(self, plan: TrialPlan, folder: Path, foreign: Path) -> None:
        """`foreign` is the folder of another job that was killed in the same way."""
        super().__init__(plan, folder)
        self._foreign = foreign
        self._chance = random.Random(plan.seed)
        self.outcome = "nothing to damage"

    def run(self) -> dict[str, Any]:
        return {**super().run(), "way": self.plan.mode, "outcome": self.outcome}

    def _finish(self) -> None:
        victim = self._victim()
        if victim is not None:
            self._damage_and_restart(*victim)
        super()._finish()

    def _damage_and_restart(self, path: Path, needed: bool) -> None:
        way = self.plan.mode.partition(" ")[0]
        before = {p: p.read_bytes() for p in path.parent.iterdir()}
        if not self._damage(path, way, sorted(p for p in before if p != path)):
            return
        life = self._start()
        life.wait()
        said = self._tail(life)
        if life.code == workload.REFUSED:
            self.outcome = "refused"
            if path.name not in said and not (way == "swap" and any(p.name in said for p in before)):
                self.problems.append(f"I10: the refusal does not name {path.name}: {said}")
            if not needed:
                self.problems.append(f"I10: {path.name} is not needed, but was refused: {said}")
            for changed, content in before.items():
                if not changed.exists() or changed.read_bytes() != content:
                    changed.write_bytes(content)
        elif life.code == workload.FINISHED:
            self.outcome = "gone back" if needed else "not needed"
            if needed and path.exists() and not self._may_go_back(path):
                self.problems.append(f"I10: {path.name} was damaged ({way}) and the job finished all the same")
        else:
            self.problems.append(f"I10: after {way} of {path.name} the driver ended with {life.code}: {said}")

    def _victim(self) -> tuple[Path, bool] | None:
        """A file of the wanted folder, and whether the next driver needs it to be right."""
        (job,) = (self.folder / "checkpoints").iterdir()
        folder = self.plan.mode.partition(" ")[2]
        way = self.plan.mode.partition(" ")[0]
        records = {p: json.loads(p.read_bytes().partition(b"\n")[0]) for p in (job / "slots").iterdir()}
        manifests = [p for p, r in records.items() if r["kind"] == "manifest"]
        if not manifests:
            return None
        base = max(manifests)
        self._marked = (job / "markers" / base.name).exists()
        listed = [job / "state" / f[1] for f in records[base]["body"]["files"]]
        if folder == "slots":
            if way == "missing" and not self._marked:
                return None  # a manifest that vanishes before its marker is there leaves no trace
            return base, True
        if folder == "state":
            return (self._chance.choice(listed), True) if listed else None
        found = sorted((job / folder).iterdir())
        if not found or (folder == "generations" and way == "missing"):
            return None
        return self._chance.choice(found), False

    def _may_go_back(self, path: Path) -> bool:
        del path
        return not self._marked

    def _damage(self, path: Path, way: str, others: list[Path]) -> bool:
        data = path.read_bytes()
        if way == "missing":
            path.unlink()
        elif way == "truncate":
            path.write_bytes(data[: self._chance.randrange(len(data))])
        elif way == "flip":
            spot = self._chance.randrange(len(data))
            path.write_bytes(data[:spot] + bytes([data[spot] ^ 1 << self._chance.randrange(8)]) + data[spot + 1 :])
        elif way == "zero":
            start = self._chance.randrange(len(data))
            zeroed = data[:start] + bytes(min(512, len(data) - start)) + data[start + 512 :]
            path.write_bytes(zeroed)
            return zeroed != data
        elif way == "swap":
            others = [p for p in others if p.read_bytes() != data]
            if not others:
                return False
            other = self._chance.choice(others)
            content = other.read_bytes()
            other.write_bytes(data)
            path.write_bytes(content)
        else:
            theirs = [p for p in self._foreign.glob(f"checkpoints/*/{path.parent.name}/*") if p.is_file()]
            if not theirs:
                return False
            same = [p for p in theirs if p.name == path.name]
            path.write_bytes((same or sorted(theirs))[0].read_bytes())
        return True
