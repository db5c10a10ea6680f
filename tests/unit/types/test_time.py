import datetime
import pickle

import pytest

from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.common.time import Duration, Instant, Time, millis_of


@pytest.mark.parametrize(
    ("nanos", "text"),
    [  # as java.time.Duration prints them
        (0, "PT0S"),
        (1, "PT0.000000001S"),
        (-1, "PT-0.000000001S"),
        (1_500_000_000, "PT1.5S"),
        (-1_500_000_000, "PT-1.5S"),
        (61_000_000_000, "PT1M1S"),
        (3_661_000_000_001, "PT1H1M1.000000001S"),
        (90_000 * 10**9, "PT25H"),
    ],
)
def test_duration_text(nanos, text):
    assert str(Duration.of_nanos(nanos)) == text


def test_durations_compare_hash_and_pickle():
    assert Duration.of_days(2) == Duration.of_hours(48) == Duration.of_minutes(2880)
    assert Duration.of_millis(1) < Duration.of_seconds(1) <= Duration.of_seconds(1)
    assert len({Duration.of_millis(1000), Duration.of_seconds(1)}) == 1
    assert pickle.loads(pickle.dumps(Duration.of_nanos(7))) == Duration.of_nanos(7)
    assert Duration.of_seconds(1) != Time.seconds(1)


@pytest.mark.parametrize("wrong", [1.5, "1", None, True])
def test_durations_take_whole_numbers(wrong):
    with pytest.raises(TypeMismatchError, match="of_seconds"):
        Duration.of_seconds(wrong)


def test_instants_before_1970():
    instant = Instant.of_epoch_milli(-1)
    assert (instant.seconds, instant.nanos) == (-1, 999_000_000)
    assert instant.to_epoch_milli() == -1
    assert instant < Instant.of_epoch_milli(0)
    assert repr(instant) == "Instant<-1, 999000000>"
    assert pickle.loads(pickle.dumps(instant)) == instant


def test_time_units():
    spans = [Time.milliseconds(1), Time.seconds(1), Time.minutes(1), Time.hours(1), Time.days(1)]
    assert [span.to_milliseconds() for span in spans] == [1, 1000, 60_000, 3_600_000, 86_400_000]
    assert hash(Time.seconds(1)) == hash(Time(1000))
    assert Time(1) != 1


def test_millis_of_takes_any_span():
    second = (Duration.of_seconds(1), Time.seconds(1), datetime.timedelta(seconds=1))
    assert [millis_of(span, "size") for span in second] == [1000] * 3


def test_millis_of_refuses_what_is_too_short():
    with pytest.raises(InvalidProgramError, match="size is too short"):
        millis_of(Duration.of_millis(-1), "size")
    assert millis_of(Duration.of_millis(-1), "offset", at_least=None) == -1
