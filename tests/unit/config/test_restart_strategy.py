import pickle
from datetime import timedelta

import pytest

from headrace.common import Configuration, Duration, RestartStrategies, Time
from headrace.common.errors import HeadraceError
from headrace.config.restart_keys import restart_strategy_from

EVERY = [
    RestartStrategies.no_restart(),
    RestartStrategies.fall_back_restart(),
    RestartStrategies.fixed_delay_restart(3, 1000),
    RestartStrategies.failure_rate_restart(3, 60_000, 1000),
    RestartStrategies.exponential_delay_restart(1000, 60_000, 1.5, 3_600_000, 0.1),
]


@pytest.mark.parametrize("strategy", EVERY)
def test_strategies_compare_pickle_and_describe_themselves(strategy):
    again = pickle.loads(pickle.dumps(strategy))
    assert again == strategy
    assert hash(again) == hash(strategy)
    assert strategy.get_description()
    assert [other for other in EVERY if other == strategy] == [strategy]


@pytest.mark.parametrize("second", [1000, timedelta(seconds=1), Time.seconds(1), Duration.of_seconds(1)])
def test_spans_may_be_written_in_many_ways(second):
    fixed = RestartStrategies.fixed_delay_restart(3, second)
    assert fixed.get_delay_between_attempts_interval() == timedelta(seconds=1)
    rate = RestartStrategies.failure_rate_restart(3, second, second)
    assert (rate.get_failure_interval(), rate.get_delay_between_attempts_interval()) == (timedelta(seconds=1),) * 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: RestartStrategies.fixed_delay_restart(-1, 1000),
        lambda: RestartStrategies.fixed_delay_restart(1, -1),
        lambda: RestartStrategies.fixed_delay_restart(1, "1 s"),
        lambda: RestartStrategies.fixed_delay_restart(1, None),
        lambda: RestartStrategies.failure_rate_restart(0, 1000, 1000),
        lambda: RestartStrategies.failure_rate_restart(1, 0, 1000),
        lambda: RestartStrategies.exponential_delay_restart(0, 1000, 2.0, 1000, 0.1),
        lambda: RestartStrategies.exponential_delay_restart(2000, 1000, 2.0, 1000, 0.1),
        lambda: RestartStrategies.exponential_delay_restart(1, 1000, 0.5, 1000, 0.1),
        lambda: RestartStrategies.exponential_delay_restart(1, 1000, 2.0, 1000, 1.1),
    ],
)
def test_wrong_values_are_refused(wrong):
    with pytest.raises(HeadraceError):
        wrong()


def test_strategies_do_not_change():
    with pytest.raises(AttributeError):
        EVERY[2].restart_attempts = 5


@pytest.mark.parametrize(
    ("texts", "strategy"),
    [
        ({"restart-strategy": "none"}, RestartStrategies.no_restart()),
        ({"restart-strategy.type": "OFF"}, RestartStrategies.no_restart()),
        ({"restart-strategy.type": "fixed-delay"}, RestartStrategies.fixed_delay_restart(1, 1000)),
        (
            {"restart-strategy.type": "fixeddelay", "restart-strategy.fixed-delay.delay": "5 s"},
            RestartStrategies.fixed_delay_restart(1, 5000),
        ),
        ({"restart-strategy.type": "failure-rate"}, RestartStrategies.failure_rate_restart(1, 60_000, 1000)),
        (
            {"restart-strategy.type": "exponential-delay"},
            RestartStrategies.exponential_delay_restart(1000, 60_000, 1.5, 3_600_000, 0.1),
        ),
    ],
)
def test_strategies_of_a_configuration(texts, strategy):
    assert restart_strategy_from(Configuration.from_dict(texts)) == strategy


def test_unknown_strategy():
    with pytest.raises(HeadraceError, match="often"):
        restart_strategy_from(Configuration.from_dict({"restart-strategy": "often"}))
