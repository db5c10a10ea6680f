"""What the driver has counted of one subtask since the job started (or started again), under Flink's names.

A subtask that was built anew in between has begun its own metrics from zero: their earlier values are kept here and added.
"""

from __future__ import annotations

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.metrics.values import Count, GaugeValue, Path, Value, continued
from headrace.runtime.task.messages import VertexReport
from headrace.runtime.task.vertex_meter import HotKeyGroup, OperatorReport
from headrace.runtime.windowed import Windowed

__all__ = ["OperatorBook", "SubtaskBook"]

Values = dict[Path, Value]


class OperatorBook:
    """One operator of the subtask."""

    def __init__(self) -> None:
        self.records_in = 0
        self.records_out = 0
        self.window = Windowed()
        self._latest: OperatorReport | None = None
        self._earlier: Values = {}

    def take(self, report: OperatorReport, elapsed: float, reborn: bool) -> None:
        """An epoch's report; `reborn`: the operator's metrics have begun from zero."""
        if reborn and self._latest is not None:
            self._earlier = self.metrics()
        self._latest = report
        self.records_in += report.records_in
        self.records_out += report.records_out
        self.window.add(
            elapsed,
            records_in=report.records_in,
            records_out=report.records_out,
            own=report.seconds,
            sending=report.sending_seconds,
        )

    def metrics(self) -> Values:
        """The operator's own metrics, the user's among them, over all lives of the subtask."""
        latest = {} if self._latest is None else self._latest.metrics
        values = {path: continued(self._earlier.get(path), value) for path, value in latest.items()}
        return {**self._earlier, **values}

    def values(self, now: int) -> Values:
        """All metrics."""
        values: Values = {
            ("numRecordsIn",): Count(self.records_in),
            ("numRecordsOut",): Count(self.records_out),
            ("numRecordsInPerSecond",): GaugeValue(self.window.per_second("records_in")),
            ("numRecordsOutPerSecond",): GaugeValue(self.window.per_second("records_out")),
            ("busyTimeMsPerSecond",): GaugeValue(1000 * self.window.per_second("own")),
        }
        if self._latest is not None:
            values.update(_watermarks(self._latest.input_watermark, self._latest.output_watermark, now))
        values.update(self.metrics())
        return values


class SubtaskBook:
    """One subtask of one vertex."""

    def __init__(self, operator_ids: list[str]) -> None:
        self.operators = {operator_id: OperatorBook() for operator_id in operator_ids}
        self.window = Windowed()
        self.host, self.pid = "", 0
        self.start_ms = self.end_ms = -1
        self.hot_key_group: HotKeyGroup | None = None
        self.held_back = False
        self._latest: VertexReport | None = None
        self._life: int | None = None
        self._totals: dict[str, int] = dict.fromkeys(_COUNTED, 0)
        self._times = {"busy": 0.0, "idle": 0.0, "backPressured": 0.0}

    def take(self, report: VertexReport, elapsed: float, busy: float, back_pressured: float) -> None:
        """An epoch's report and what became of the `elapsed` seconds since the one before."""
        measures = report.measures
        reborn = self._life is not None and measures.life != self._life
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
            self.operators[operator.operator_id].take(operator, elapsed, reborn)

    def part(self, kind: str) -> float:
        """The part of its time (0 to 1) that the subtask was busy, idle or backPressured, lately."""
        return self.window.per_second(kind)

    def values(self, now: int) -> Values:
        """The metrics of the task; those of operators are theirs."""
        values: Values = {(name,): Count(number) for name, number in self._totals.items()}
        for name in _COUNTED:
            values[f"{name}PerSecond",] = GaugeValue(self.window.per_second(name))
        for kind, seconds in self._times.items():
            shown = kind[0].upper() + kind[1:]
            ratio = self.part(kind)
            if not self.window.seconds and kind == "idle":
                ratio = 1.0
            values[f"{kind}TimeMsPerSecond",] = GaugeValue(1000 * ratio)
            values[f"accumulate{shown}TimeMs",] = GaugeValue(round(1000 * seconds))
        late = [operator.metrics().get(("numLateRecordsDropped",)) for operator in self.operators.values()]
        values["numLateRecordsDropped",] = Count(sum(v.number for v in late if isinstance(v, Count)))
        latest = self._latest
        if latest is not None and latest.measures.operators:
            first, last = latest.measures.operators[0], latest.measures.operators[-1]
            values.update(_watermarks(first.input_watermark, last.output_watermark, now))
            if latest.measures.event_timestamp is not None:
                values["currentEmitEventTimeLag",] = GaugeValue(now - latest.measures.event_timestamp)
        return values


_COUNTED = ("numRecordsIn", "numRecordsOut", "numBytesIn", "numBytesOut", "numBuffersIn", "numBuffersOut")


def _watermarks(given: int, sent: int, now: int) -> Values:
    values: Values = {
        ("currentInputWatermark",): GaugeValue(given),
        ("currentOutputWatermark",): GaugeValue(sent),
    }
    known = max(given, sent)
    if MIN_TIMESTAMP < known < MAX_WATERMARK:
        values["watermarkLag",] = GaugeValue(now - known)
    return values
