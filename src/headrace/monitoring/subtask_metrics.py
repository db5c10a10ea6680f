"""Metrics of one subtask since the job was started or restarted, under Flink's names.

A subtask that was rebuilt in between counts its own metrics from zero again: their earlier values are kept here and added.
"""

from __future__ import annotations

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.metrics.values import Count, GaugeValue, Path, Value, continued
from headrace.worker.messages import HotKeyGroup, OperatorReport, VertexReport

BUCKET_SECONDS = 5.0


class MovingSums:
    """Keep two buckets, one that fills and one that is full: sums over the last 5 to 10 seconds at almost no cost.

    >>> busy = MovingSums()
    >>> for _ in range(20):
    ...     busy.add(1.0, busy=0.5)
    >>> busy.per_second("busy"), busy.seconds
    (0.5, 10.0)
    """

    def __init__(self) -> None:
        self._filling: dict[str, float] = {}
        self._full: dict[str, float] = {}
        self._filling_seconds = 0.0
        self._full_seconds = 0.0

    def add(self, elapsed: float, **amounts: float) -> None:
        """Add what was counted in the `elapsed` seconds that have just passed."""
        if self._filling_seconds >= BUCKET_SECONDS:
            self._full, self._full_seconds = self._filling, self._filling_seconds
            self._filling, self._filling_seconds = {}, 0.0
        self._filling_seconds += elapsed
        filling = self._filling
        for name, amount in amounts.items():
            filling[name] = filling.get(name, 0.0) + amount

    @property
    def seconds(self) -> float:
        """The time that the sums cover."""
        return self._filling_seconds + self._full_seconds

    def total(self, name: str) -> float:
        """Return what was counted in that time."""
        return self._filling.get(name, 0.0) + self._full.get(name, 0.0)

    def per_second(self, name: str) -> float:
        """Return the same per second; 0 before anything was counted."""
        return self.total(name) / self.seconds if self.seconds else 0.0


Values = dict[Path, Value]
_LATE = ("numLateRecordsDropped",)


class OperatorMetrics:
    """Metrics of one operator of the subtask."""

    def __init__(self) -> None:
        self.records_in = 0
        self.records_out = 0
        self.window = MovingSums()
        self._latest: OperatorReport | None = None
        self._earlier: Values = {}
        self._current: Values = {}

    def take(self, report: OperatorReport, elapsed: float, rebuilt: bool) -> None:
        """Add an epoch's report. `rebuilt`: the operator counts from zero again."""
        if rebuilt and self._latest is not None:
            self._earlier, self._current = self.metrics(), {}
        self._latest = report
        self._current.update(report.metrics)
        self.records_in += report.records_in
        self.records_out += report.records_out
        self.window.add(
            elapsed,
            records_in=report.records_in,
            records_out=report.records_out,
            own=report.seconds,
            sending=report.sending_seconds,
        )

    @property
    def late_dropped(self) -> int:
        """Records that were dropped because they came too late."""
        latest = self._current.get(_LATE)
        number = latest.number if isinstance(latest, Count) else 0
        earlier = self._earlier.get(_LATE)
        return number + earlier.number if isinstance(earlier, Count) else number

    def metrics(self) -> Values:
        """Return the operator's own metrics, including the user's, over all lives of the subtask."""
        if not self._earlier:
            return dict(self._current)
        values = {path: continued(self._earlier.get(path), value) for path, value in self._current.items()}
        return {**self._earlier, **values}

    def numbers(self, now: int) -> dict[str, float]:
        """Return the metrics that every operator has."""
        per_second = self.window.per_second
        numbers = {
            "numRecordsIn": self.records_in,
            "numRecordsOut": self.records_out,
            "numRecordsInPerSecond": per_second("records_in"),
            "numRecordsOutPerSecond": per_second("records_out"),
            "busyTimeMsPerSecond": 1000 * per_second("own"),
        }
        if self._latest is not None:
            _add_watermarks(numbers, self._latest.input_watermark, self._latest.output_watermark, now)
        return numbers


class SubtaskMetrics:
    """Metrics of one subtask of one vertex."""

    def __init__(self, operator_ids: list[str]) -> None:
        self.operators = {operator_id: OperatorMetrics() for operator_id in operator_ids}
        self.window = MovingSums()
        self.host, self.pid = "", 0
        self.start_ms = self.end_ms = -1
        self.hot_key_group: HotKeyGroup | None = None
        self.held_back = False
        self._latest: VertexReport | None = None
        self._life: int | None = None
        self._totals: dict[str, int] = dict.fromkeys(_COUNTED, 0)
        self._times = {"busy": 0.0, "idle": 0.0, "backPressured": 0.0}

    def take(self, report: VertexReport, elapsed: float, busy: float, back_pressured: float) -> None:
        """Add an epoch's report, and how the `elapsed` seconds since the one before were spent."""
        measures = report.measures
        rebuilt = self._life is not None and measures.life != self._life
        self._life, self._latest = measures.life, report
        counted = {
            "numRecordsIn": report.records_in,
            "numRecordsOut": report.records_out,
            "numBytesIn": measures.bytes_in,
            "numBytesOut": measures.bytes_out,
            "numBuffersIn": measures.frames_in,
            "numBuffersOut": measures.frames_out,
        }
        for name, number in counted.items():
            self._totals[name] += number
        spent = {"busy": busy, "idle": elapsed - busy - back_pressured, "backPressured": back_pressured}
        for name, seconds in spent.items():
            self._times[name] += seconds
        self.window.add(elapsed, **counted, **spent)
        self.held_back = measures.held_back
        if measures.hot_key_group is not None:
            self.hot_key_group = measures.hot_key_group
        for operator in measures.operators:
            self.operators[operator.operator_id].take(operator, elapsed, rebuilt)

    def rest(self, elapsed: float) -> None:
        """Add `elapsed` seconds in which a subtask that has ended was idle."""
        self.window.add(elapsed, idle=elapsed)
        for operator in self.operators.values():
            operator.window.add(elapsed)

    def part(self, kind: str) -> float:
        """Return the share of recent time (0 to 1) that the subtask was busy, idle or backPressured."""
        return self.window.per_second(kind)

    def numbers(self, now: int) -> dict[str, float]:
        """Return the metrics of the task, without those of its operators."""
        numbers: dict[str, float] = dict(self._totals)
        per_second = self.window.per_second
        for name, rate in _RATES:
            numbers[rate] = per_second(name)
        for kind, rate, total in _TIMES:
            numbers[rate] = 1000 * per_second(kind)
            numbers[total] = round(1000 * self._times[kind])
        if not self.window.seconds:
            numbers["idleTimeMsPerSecond"] = 1000.0
        numbers["numLateRecordsDropped"] = sum(operator.late_dropped for operator in self.operators.values())
        if self._latest is not None and (operators := self._latest.measures.operators):
            _add_watermarks(numbers, operators[0].input_watermark, operators[-1].output_watermark, now)
            if (event_timestamp := self._latest.measures.event_timestamp) is not None:
                numbers["currentEmitEventTimeLag"] = now - event_timestamp
        return numbers


_COUNTED = ("numRecordsIn", "numRecordsOut", "numBytesIn", "numBytesOut", "numBuffersIn", "numBuffersOut")
_RATES = tuple((name, f"{name}PerSecond") for name in _COUNTED)
_TIMES = tuple(
    (kind, f"{kind}TimeMsPerSecond", f"accumulate{kind[0].upper()}{kind[1:]}TimeMs")
    for kind in ("busy", "idle", "backPressured")
)
_COUNTS = {*_COUNTED, "numLateRecordsDropped"}


def as_values(numbers: dict[str, float]) -> Values:
    """Return numbers as reporters get them: counters and gauges."""
    return {(name,): Count(int(n)) if name in _COUNTS else GaugeValue(n) for name, n in numbers.items()}


def _add_watermarks(numbers: dict[str, float], given: int, sent: int, now: int) -> None:
    numbers["currentInputWatermark"] = given
    numbers["currentOutputWatermark"] = sent
    known = max(given, sent)
    if MIN_TIMESTAMP < known < MAX_WATERMARK:
        numbers["watermarkLag"] = now - known
