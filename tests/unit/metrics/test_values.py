"""Metrics in a subtask: kinds, kinds of one's own, groups, what goes to the driver, and how lives are put together."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import ConfigurationError, TypeMismatchError
from headrace.metrics import Counter, Gauge, Histogram, HistogramStatistics, Meter
from headrace.metrics.local import LocalDistribution, LocalMeter, LocalMetricGroup
from headrace.metrics.scope import OPERATOR, TASK, Scope, ScopeFormats
from headrace.metrics.values import Count, GaugeValue, Rate, Sketch, Spread, continued, flat, joined


class Doubled(Counter):
    def __init__(self):
        self.number = 0

    def inc(self, n=1):
        self.number += 2 * n

    def dec(self, n=1):
        self.number -= 2 * n

    def get_count(self):
        return self.number


class Steady(Meter):
    def mark_event(self, value=1):
        pass

    def get_count(self):
        return 5

    def get_rate(self):
        return 2.5


class Fixed(Histogram, HistogramStatistics):
    def update(self, value):
        pass

    def get_count(self):
        return 4

    def get_statistics(self):
        return self

    def get_quantile(self, quantile):
        return 100 * quantile

    def get_mean(self):
        return 50.0

    def get_std_dev(self):
        return 1.0

    def get_min(self):
        return 0.0

    def get_max(self):
        return 100.0

    def size(self):
        return 4


class Answer(Gauge):
    def get_value(self):
        return 42


def test_kinds_of_ones_own_are_reported_by_what_they_say():
    group = LocalMetricGroup()
    mine = Doubled()
    assert group.counter("c", mine) is mine
    mine.inc(3)
    group.meter("m", Steady())
    group.gauge("g", Answer())
    group.histogram("h", Fixed())
    shown = group.snapshot()
    assert (shown["c"], shown["m"], shown["m_count"], shown["g"]) == (6, 2.5, 5, 42)
    assert (shown["h_count"], shown["h_p99"], shown["h_mean"]) == (4, 99.0, 50.0)


def test_the_first_metric_of_a_name_is_the_one_reported(caplog):
    group = LocalMetricGroup()
    first, second = Doubled(), Doubled()
    group.counter("c", first)
    assert group.counter("c", second) is second
    second.inc()
    assert group.snapshot() == {"c": 0}
    assert "already" in caplog.text
    with pytest.raises(TypeMismatchError):
        group.meter("c")
    with pytest.raises(TypeMismatchError):
        group.counter("d", Steady())


def test_a_gauge_that_raises_is_left_out(caplog):
    group = LocalMetricGroup()
    group.gauge("bad", lambda: 1 // 0)
    group.gauge("text", lambda: ["a"])
    assert group.snapshot() == group.snapshot() == {"text": "['a']"}
    assert caplog.text.count("'bad' cannot be read") == 1


def test_a_meter_gives_the_rate_over_its_span():
    now = [100.0]
    meter = LocalMeter(10, lambda: now[0])
    rates = []
    for second in range(30):
        meter.mark_event(20 if second < 10 else 0)
        now[0] += 1
        rates.append(meter.get_rate())
    assert rates[0] == 20.0
    assert rates[9] == 20.0
    assert rates[-1] == 0.0
    assert meter.get_count() == 200


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=300), st.lists(st.floats(0.001, 1e9), max_size=300))
def test_merged_sketches_answer_as_one_of_all_values(some, others):
    one, other = Sketch(), Sketch()
    one.fold(some)
    other.fold(others)
    both = pickle.loads(pickle.dumps(one)).merged(pickle.loads(pickle.dumps(other)))
    values = sorted([*some, *others])
    assert (both.count, both.minimum, both.maximum) == (len(values), values[0], values[-1])
    for quantile in (0.0, 0.5, 0.9, 1.0):
        exact = values[int(quantile * (len(values) - 1))]
        assert both.quantile(quantile) == pytest.approx(exact, rel=0.011)


def test_strange_numbers_do_no_harm():
    distribution = LocalDistribution()
    for value in (0, -3, 5, float("nan"), float("inf"), True):
        distribution.update(value)
    statistics = distribution.get_statistics()
    assert statistics.size() == 4
    assert (statistics.get_min(), statistics.get_max()) == (-3.0, 5.0)
    with pytest.raises(TypeError):
        distribution.update("text")


def test_lives_of_a_subtask_are_added_and_gauges_are_not():
    assert continued(Count(5), Count(2)) == Count(7)
    assert continued(None, Count(2)) == Count(2)
    assert continued(Rate(5, 1.0), Rate(2, 3.0)) == Rate(7, 3.0)
    assert continued(GaugeValue(5), GaugeValue(2)) == GaugeValue(2)
    assert joined(GaugeValue(5), GaugeValue(2)) is None
    one, other = LocalDistribution(), LocalDistribution()
    one.update(1)
    other.update(9)
    both = continued(Spread(one.sketch()), Spread(other.sketch()))
    assert flat({("d",): both})["d_max"] == 9


def test_scope_formats_are_filled_checked_and_extended():
    variables = {
        "host": "h",
        "tm_id": "w",
        "job_name": "j",
        "task_name": "t",
        "subtask_index": "3",
        "operator_name": "o",
    }
    formats = ScopeFormats.read({"metrics.scope.operator": "*.<operator_name>", "metrics.scope.tm.job": "x.<job_name>"})
    assert formats.parts(Scope(TASK, variables)) == ["h", "taskmanager", "w", "j", "t", "3"]
    assert formats.parts(Scope(OPERATOR, variables)) == ["h", "taskmanager", "w", "j", "t", "3", "o"]
    with pytest.raises(ConfigurationError, match="<operator_name>"):
        ScopeFormats.read({"metrics.scope.task": "<operator_name>"})
