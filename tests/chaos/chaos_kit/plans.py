"""What happens in a trial, drawn from a seed: so that each can be run again."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from chaos_kit.rescaler import WAYS
from headrace.foundation.faultpoints import POINTS

PER_EPOCH = {
    "state": 12,
    "precommit": 6,
    "acks.partial": 18,
    "commit.between": 5,
    "commit.ambiguous": 6,
    "gc.between": 4,
}
"""How often a point is reached in an epoch of the workload, roughly; once, if it is not here."""
DRIVER_POINTS = tuple(p for p in POINTS if not p.startswith(("state", "precommit")))
RECOVERY_POINTS = tuple(p for p in POINTS if p.startswith(("gen", "commit", "marker", "publish", "gc")))
USER_PLACES = ("map", "process", "window", "timer", "condition")
DISK_CALLS = ("fsync", "link", "open", "replace")
KINDS = {
    "point": "F2 killed at a named point",
    "time": "F1 killed at a random time",
    "recovery": "F9 killed again and again while it recovers",
    "zombie": "F6/F7 put to sleep, replaced, woken up",
    "user": "F26 user code fails",
    "raise": "F26 headrace itself fails at a named point",
    "refuse": "F20 the sink refuses for a while",
    "answer": "F21 the sink commits, its answer is lost",
    "disk": "F15/F16 the disk is full, or fails",
    "rescale": "F33 killed, and started with another parallelism and backend",
    "live": "F43 rescaled while it runs, restores, recovers or takes a savepoint; killed now and then",
    "stop": "F10 stopped with a savepoint at a named point, and started again",
    "term": "F10 ended by SIGTERM at a named point",
    "damage": "F12-F14 a file is torn, changed, swapped, foreign or missing",
}
_MIX = (
    ("point",) * 10
    + ("time",) * 5
    + ("recovery",) * 3
    + ("zombie",) * 3
    + ("rescale",) * 2
    + ("live",)
    + ("user", "raise", "refuse", "answer", "disk")
)


@dataclass(frozen=True)
class Strike:
    """How one life ends: at a point (or sleeps, or raises there), or after some seconds."""

    fault: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class TrialPlan:
    kind: str
    seed: int
    params: dict[str, Any]
    strikes: tuple[Strike, ...]
    mode: str = ""
    """Of zombies: what happens until the first one wakes up. "killed": a job that is being stopped is killed over it."""


Plan = TypeVar("Plan", bound=TrialPlan)


def draw(campaign: int, number: int, kind: str | None = None, life_s: float = 0.35) -> TrialPlan:
    """The plan of a trial. Points come in turn, so that all are reached about equally often."""
    chance = random.Random(f"{campaign}/{number}")
    turn, mixed = number, kind is None
    if kind is None:
        kind = _MIX[number % len(_MIX)]
        turn = number // len(_MIX) * _MIX.count(kind) + _MIX[: number % len(_MIX)].count(kind)
    params: dict[str, Any] = {
        "seed": chance.randrange(1 << 30),
        "records": chance.choice((60, 100, 100, 140)),
        "chunk": chance.choice((13, 20, 20)),
        "sinks": chance.choice(("", "", "files", "files each", "table", "files table")),
        "parallelism": chance.choice((1, 2, 2, 2, 3)),
        "settings": {
            "execution.checkpointing.num-retained": chance.choice((1, 1, 3)),
            "state.backend.type": chance.choice(("hashmap", "hashmap", "rocksdb")),
            "execution.checkpointing.interval": f"{chance.choice((10, 10, 10, 60))} ms",
        },
    }
    point = POINTS[turn % len(POINTS)]
    strikes: tuple[Strike, ...] = ()
    mode = ""
    if kind == "rescale":
        params["parallelisms"] = [chance.choice((1, 2, 3, 5)) for _ in range(4)]
        params["backends"] = [chance.choice(("hashmap", "rocksdb")) for _ in range(4)]
    if kind == "live":
        params["settings"]["state.backend.type"] = ("hashmap", "rocksdb")[turn % 2]
        params |= (
            {"records": 200, "rescales": rescales(chance, 5)}
            if mixed
            else {"records": 600, "rescales": rescales(chance, 12)}
        )
        strikes = tuple(_any(chance) for _ in range(chance.choice((0, 0, 1, 2))))
        if chance.random() < 0.3:
            params["harm"] = f"{chance.choice(USER_PLACES)}:{1 + chance.randrange(600)}:{1 + chance.randrange(2)}"
    elif kind in ("point", "rescale"):
        strikes = (at(chance, point), *(_any(chance) for _ in range(chance.randrange(3))))
    elif kind == "time":
        strikes = tuple(Strike(seconds=chance.random() * life_s) for _ in range(1 + chance.randrange(4)))
    elif kind == "recovery":
        first = at(
            chance, chance.choice(("manifest.post", "commit.between", "commit.post", "gc.between", "acks.full", point))
        )
        again = [
            Strike(f"{chance.choice(RECOVERY_POINTS)}:{chance.choice((1, 1, 2))}:kill")
            if chance.random() < 0.7
            else Strike(seconds=chance.random() * 0.1)
            for _ in range(2 + chance.randrange(4))
        ]
        strikes = (first, *again)
    elif kind == "zombie":
        mode = chance.choice(("after", "meanwhile", "race"))
        strikes = (at(chance, point, "stop"), at(chance, chance.choice(POINTS), chance.choice(("stop", "kill"))))
    elif kind in ("stop", "term"):
        mode = chance.choice(("", "", "killed")) if kind == "stop" else ""
        strikes = (at(chance, point, "stop"), at(chance, chance.choice(POINTS), "stop"))
    elif kind == "raise":
        strikes = (at(chance, point, "raise"), *([_any(chance)] if chance.random() < 0.5 else []))
    else:
        strikes = (_any(chance),) if chance.random() < 0.6 else ()
        if kind == "user":
            params["harm"] = f"{chance.choice(USER_PLACES)}:{1 + chance.randrange(60)}:{1 + chance.randrange(3)}"
        elif kind == "refuse":
            what = chance.choice(("commit", "commit", "prepare"))
            params["sink_harm"] = f"{what}:{1 + chance.randrange(15)}:{chance.choice((1, 2, 3, 7))}"
        elif kind == "answer":
            params["sink_harm"] = f"answer:{1 + chance.randrange(15)}:{chance.choice((1, 2, 5))}"
        elif kind == "disk":
            error = chance.choice(("ENOSPC", "EIO", "EACCES"))
            params["disk"] = (
                f"{chance.choice(DISK_CALLS)}:{1 + chance.randrange(80)}:{chance.choice((1, 3, 10))}:{error}"
            )
            params["settings"]["execution.checkpointing.tolerable-failed-checkpoints"] = chance.choice((0, 3))
    return TrialPlan(kind, params["seed"], params, strikes, mode)


def about(plan: Plan, workload: str, number: int) -> Plan:
    """Return the same trial of another job: "streams" or "sql", half of them with mini-batches.

    A driver of the SQL job plans its queries first, so it is killed later.
    """
    if workload == "streams":
        return plan
    strikes = tuple(replace(s, seconds=s.seconds * 6) if s.seconds is not None else s for s in plan.strikes)
    params = {**plan.params, "workload": workload, "mini_batch": number % 2 == 1, "sinks": ""}
    return replace(plan, params=params, strikes=strikes)


def rescales(chance: random.Random, count: int, unit_s: float = 1.0) -> list[list[Any]]:
    """Steps of a `Rescaler`: most come without a pause, so that no epoch, or half of one, is between them."""
    gaps = (0, 0, 0, 0.003, 0.01, 0.03, 0.1)
    return [
        [chance.choice(gaps) * unit_s, chance.choice(WAYS), chance.choice((1, 2, 3, 5)), chance.choice((1, 2, 3, 4))]
        for _ in range(count)
    ]


def at(chance: random.Random, point: str, action: str = "kill", epochs: int = 3) -> Strike:
    """A strike at a point within the next epochs."""
    per_epoch = next((n for name, n in PER_EPOCH.items() if point.startswith(name)), 1)
    once = point.startswith(("gen", "gc"))  # a short life claims once and collects once or twice
    most = per_epoch * (1 if once else epochs)
    return Strike(f"{point}:{1 + chance.randrange(most)}:{action}")


def _any(chance: random.Random) -> Strike:
    if chance.random() < 0.3:
        return Strike(seconds=chance.random() * 0.3)
    return at(chance, chance.choice(POINTS))
