"""The settings of a session that decide how queries are planned, read once from its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from headrace.table.errors import SqlValidationError
from headrace.table.functions.definition import Session

_UNITS = {"ms": 1, "s": 1000, "sec": 1000, "min": 60_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "": 1}
_LONG_UNITS = {"milli": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


@dataclass(frozen=True)
class PlanSettings:
    """What the planner takes from the options of a session. Times are milliseconds.

    >>> PlanSettings.of({"table.exec.state.ttl": "1 h"}).ttl
    3600000
    """

    batch: bool = False
    time_zone: str = "UTC"
    ttl: int = 0
    mini_batch: bool = False
    two_phase: bool = False
    upsert_materialize: str = "AUTO"
    not_null_enforcer: str = "ERROR"
    length_enforcer: str = "IGNORE"
    idle_timeout: int = 0
    source_duplicates: bool = False
    reuse_subplans: bool = True
    early_fire: int = 0
    late_fire: int = 0
    allowed_lateness: int = 0
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @staticmethod
    def of(options: Mapping[str, str], batch: bool = False) -> PlanSettings:
        """Return the settings for the options of a session."""
        get = _Reader(options)
        early = get.enabled("table.exec.emit.early-fire.enabled", False)
        late = get.enabled("table.exec.emit.late-fire.enabled", False)
        phase = get.text("table.optimizer.agg-phase-strategy", "AUTO")
        return PlanSettings(
            batch=batch or get.text("execution.runtime-mode", "STREAMING") == "BATCH",
            time_zone=_zone(options.get("table.local-time-zone", "default")),
            ttl=get.duration("table.exec.state.ttl"),
            mini_batch=get.enabled("table.exec.mini-batch.enabled", False),
            two_phase=phase == "TWO_PHASE",
            upsert_materialize=get.text("table.exec.sink.upsert-materialize", "AUTO"),
            not_null_enforcer=get.text("table.exec.sink.not-null-enforcer", "ERROR"),
            length_enforcer=get.text("table.exec.sink.type-length-enforcer", "IGNORE"),
            idle_timeout=get.duration("table.exec.source.idle-timeout"),
            source_duplicates=get.enabled("table.exec.source.cdc-events-duplicate", False),
            reuse_subplans=get.enabled("table.optimizer.reuse-sub-plan-enabled", True),
            early_fire=get.duration("table.exec.emit.early-fire.delay", 1) if early else 0,
            late_fire=get.duration("table.exec.emit.late-fire.delay", 1) if late else 0,
            allowed_lateness=get.duration("table.exec.emit.allow-lateness") if late else 0,
            options=dict(options),
        )

    @property
    def session(self) -> Session:
        """Return the settings that functions see."""
        return Session(self.time_zone, self.batch, options=tuple(sorted(self.options.items())))


def duration(text: str) -> int:
    """Return a duration such as `10 s` or `1 min` in milliseconds; raise ValueError if it is none.

    >>> duration("10 s"), duration("1d"), duration("250"), duration("2 hours")
    (10000, 86400000, 250, 7200000)
    """
    text = text.strip().lower()
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    unit = text[len(digits) :].strip()
    scale = _UNITS.get(unit) or _LONG_UNITS.get(unit.removesuffix("s"))
    if not digits or scale is None:
        raise ValueError(text)
    return int(digits) * scale


class _Reader:
    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options

    def text(self, key: str, default: str) -> str:
        return str(self._options.get(key, default)).strip().upper().replace("-", "_")

    def enabled(self, key: str, default: bool) -> bool:
        found = self.text(key, str(default))
        if found not in ("TRUE", "FALSE"):
            raise SqlValidationError(f"The option '{key}' must be true or false", seen=found)
        return found == "TRUE"

    def duration(self, key: str, default: int = 0) -> int:
        found = self._options.get(key)
        if found is None:
            return default
        try:
            return duration(str(found))
        except ValueError:
            raise SqlValidationError(
                f"The option '{key}' must be a duration", seen=found, expected="a duration such as '10 s'"
            ) from None


def _zone(text: str) -> str:
    return "UTC" if text == "default" else text
