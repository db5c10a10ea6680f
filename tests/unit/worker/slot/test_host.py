"""The host keeps tasks alive: versions, failures, and the life of functions."""

from __future__ import annotations

import threading

import pytest

from headrace.common import WatermarkStrategy
from headrace.common.errors import HeadraceError, UserCodeError
from headrace.common.typeinfo import Types
from headrace.datastream import KeyedProcessFunction, MapFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.testing import EndEpoch, Record, event_source
from headrace.worker.exchange.frames import FAILURE, unpack
from headrace.worker.failures import failure_frame
from headrace.worker.slot.host import TaskHost

LIFE: list[str] = []


@pytest.fixture(autouse=True)
def forget():
    LIFE.clear()


class Count(KeyedProcessFunction):
    """Counts per key in state, and calls in an attribute. "open!" and the like make it fail there."""

    def __init__(self, fail_in=None):
        self.calls = 0
        self.fail_in = fail_in

    def open(self, runtime_context):
        self.me = runtime_context.get_index_of_this_subtask()
        LIFE.append(f"open {self.me}")
        if self.fail_in == "open":
            raise RuntimeError("open fails")
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        if value == "fail":
            raise RuntimeError("this record fails")
        if value == "exit":
            raise SystemExit(3)
        if value == "interrupt":
            raise KeyboardInterrupt
        self.calls += 1
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value(), self.calls

    def close(self):
        LIFE.append(f"close {self.me}")
        if self.fail_in == "close":
            raise RuntimeError("close fails")


def words(*epochs):
    events = []
    for epoch in epochs:
        events += [*(Record(word) for word in epoch.split()), EndEpoch()]
    return event_source(events, bounded=True)


def counting_job(env, collect, *texts, fail_in=None, parallelism=1):
    source = env.from_source(words(*texts), WatermarkStrategy.no_watermarks(), "words").set_parallelism(1)
    collect(
        source.key_by(lambda word: word).process(Count(fail_in)).name("count").uid("c").set_parallelism(parallelism)
    )
    return env


def test_a_task_lives_from_epoch_to_epoch(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a b", "a", "a"))
    seen = [loop.collected(loop.run()) for _ in range(3)]
    assert seen == [[("a", 1, 1), ("b", 1, 2)], [("a", 2, 3)], [("a", 3, 4)]]
    assert LIFE == ["open 0"]


def test_at_the_end_functions_are_closed_once(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a b", "a", parallelism=2))
    loop.run_to_end()
    assert sorted(LIFE) == ["close 0", "close 1", "open 0", "open 1"]
    assert loop.host.close() == []
    assert len(LIFE) == 4


def test_a_new_process_goes_on_with_the_state_but_not_the_attributes(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a b", "a", "a b"))
    loop.run()
    loop.lose_processes()
    assert loop.collected(loop.run()) == [("a", 2, 1)]
    assert loop.collected(loop.run()) == [("a", 3, 2), ("b", 2, 3)]
    assert LIFE == ["open 0", "open 0"]


def test_an_epoch_that_did_not_count_is_repeated_on_the_state_before_it(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a b", "a a"))
    loop.run()
    first = loop.collected(loop.attempt())
    assert first == [("a", 2, 3), ("a", 3, 4)]
    second = loop.collected(loop.run())
    assert [record[:2] for record in second] == [("a", 2), ("a", 3)], "counted once"
    assert LIFE == ["open 0", "close 0", "open 0"], "the task that was ahead is closed and rebuilt"


def test_a_task_that_lives_elsewhere_now_is_closed_where_it_was(env, epochs, collect):
    loop = epochs(counting_job(env, collect, *"aaaaaa"))
    loop.run()
    before, after = loop.host, TaskHost(loop.spec)

    class Moved:
        """The counting task runs in another process from now on, the source where it was."""

        def run(self, order, task_id, *rest):
            return (before if task_id[0] == 0 else after).run(order, task_id, *rest)

    loop.host = Moved()
    counts = [loop.collected(loop.run()) for _ in range(4)]
    assert [count for ((_, count, _),) in counts] == [2, 3, 4, 5], "from its files, nothing lost or doubled"
    assert LIFE == ["open 0", "open 0", "close 0"], "the one that was left, after some epochs"


@pytest.mark.parametrize(
    ("word", "name"), [("fail", "RuntimeError"), ("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt")]
)
def test_a_failure_of_user_code_is_sent_and_the_task_is_closed(env, epochs, collect, word, name):
    loop = epochs(counting_job(env, collect, "a", f"a {word} b"))
    loop.run()
    result = loop.attempt()
    assert isinstance(result.cause, UserCodeError)
    assert result.cause.message.startswith(name)
    assert [ack.task[0] for ack in result.acks] == [0], "the source has done its part, the task that failed has not"
    assert LIFE == ["open 0", "close 0"]


def test_a_failure_names_operator_subtask_and_record(env, epochs, collect):
    error = epochs(counting_job(env, collect, "a fail b")).attempt().cause
    assert (error.operator_name, error.uid, error.subtask, error.record) == ("count", "c", 0, "'fail'")
    assert error.user_traceback.splitlines()[-1] == "RuntimeError: this record fails"
    assert f'"{__file__}"' in error.user_traceback.splitlines()[1], "the user's own frames first"


def test_after_a_failure_the_job_can_go_on_from_its_files(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a", "a fail b"))
    loop.run()
    loop.attempt()
    assert isinstance(loop.attempt().cause, UserCodeError)
    assert LIFE == ["open 0", "close 0", "open 0", "close 0"]


def test_a_failing_open_closes_what_was_opened(env, epochs, collect):
    result = epochs(counting_job(env, collect, "a", fail_in="open")).attempt()
    assert result.cause.message.startswith("RuntimeError")
    assert result.cause.operator_name == "count"
    assert LIFE == ["open 0", "close 0"]


def test_a_failing_close_at_the_end_of_input_fails_the_epoch(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a", fail_in="close"))
    while (result := loop.attempt()).cause is None and not loop.ledger.ended:
        loop.ledger.apply(result.acks)
        loop.epoch += 1
    assert result.cause.operator_name == "count"
    assert LIFE == ["open 0", "close 0"], "not a second time"


def test_closing_the_host_closes_everything_and_tells_what_went_wrong(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a b", "a", fail_in="close", parallelism=2))
    loop.run()
    errors = loop.host.close()
    assert sorted(LIFE) == ["close 0", "close 1", "open 0", "open 1"]
    assert [e.message for e in errors] == ["RuntimeError in a function of the program"] * 2
    assert loop.host.close() == [], "nothing is left"


def test_tasks_of_one_host_do_not_know_each_other(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a b c d e f g h", "a", parallelism=2))
    loop.run()
    assert loop.result.cause is None
    calls = {}
    for word, count, call in loop.collected(loop.result):
        assert count == 1
        calls.setdefault(word, call)
    assert sorted(calls.values()) != list(range(1, 9)), "each subtask counts its own calls"


class Broken(MapFunction):
    def map(self, value):
        error = ValueError("broken")
        error.held = threading.Lock()
        raise error


def test_an_error_that_cannot_be_sent_comes_as_text(env, epochs, collect):
    collect(env.from_collection([1]).map(Broken()))
    result = epochs(env).attempt()
    assert "broken" in str(result.cause)


def test_an_error_of_ours_that_cannot_be_sent_comes_as_text():
    error = HeadraceError("something", remedy="do")
    error.held = threading.Lock()
    header, failure = unpack(failure_frame((1, 2), 3, error))
    assert (header.kind, header.level, header.partition, header.attempt) == (FAILURE, 1, 2, 3)
    assert "something" in str(failure.error)


def test_a_job_whose_code_cannot_be_loaded_fails_cleanly(env, epochs, collect):
    loop = epochs(counting_job(env, collect, "a"))
    broken = {**loop.spec.vertices, next(iter(loop.spec.vertices)): b"not a pickle"}
    object.__setattr__(loop.spec, "vertices", broken)
    loop.host = TaskHost(loop.spec)
    assert loop.attempt().cause is not None
