"""When functions of users are called, with what, and what they are told: two-phase commit, write-ahead, writers."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from sink_kit import FailsOnce, environment, numbers

from headrace.checkpoint.errors import CommitRefusedError
from headrace.checkpoint.manifests import IncompatibleStateError
from headrace.common import WatermarkStrategy
from headrace.common.errors import InvalidProgramError, TypeMismatchError, UserCodeError
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.connectors.sink2 import Committer, CommittingSinkWriter, Sink, SinkWriter, SupportsCommitter
from headrace.datastream.functions import (
    CheckpointedFunction,
    CheckpointListener,
    GenericWriteAheadSink,
    TwoPhaseCommitSinkFunction,
)
from headrace.datastream.state import ListStateDescriptor
from headrace.foundation.faultpoints import arm, disarm


class Told(TwoPhaseCommitSinkFunction):
    """Writes down each call; a transaction is a number."""

    def __init__(self, directory):
        self.log, self.counter = f"{directory}/log", f"{directory}/counter"

    def tell(self, *words):
        with open(self.log, "a") as file:
            print(json.dumps(words), file=file)

    def open(self, runtime_context):
        self.tell("open", runtime_context.get_index_of_this_subtask())

    def close(self):
        self.tell("close")

    def begin_transaction(self):
        path = Path(self.counter)
        number = int(path.read_text()) + 1 if path.exists() else 1
        path.write_text(str(number))
        self.tell("begin", number)
        return number

    def invoke(self, transaction, value, context):
        pass

    def pre_commit(self, transaction):
        self.tell("pre_commit", transaction)

    def commit(self, transaction):
        self.tell("commit", transaction)

    def recover_and_commit(self, transaction):
        self.tell("recover_and_commit", transaction)

    def abort(self, transaction):
        self.tell("abort", transaction)

    def recover_and_abort(self, transaction):
        self.tell("recover_and_abort", transaction)

    def finish_processing(self, transaction):
        self.tell("finish_processing", transaction)


def calls(directory):
    return [tuple(json.loads(line)) for line in (directory / "log").read_text().splitlines()]


@pytest.fixture
def fault():
    yield arm
    disarm()


def run(env, function, last=100, *steps):
    stream = numbers(env, last)
    for step in steps:
        stream = stream.map(step)
    stream.add_sink(function).uid("sink")
    env.execute()


def test_a_life_without_trouble(tmp_path):
    run(environment(tmp_path, 1, **{"execution.checkpointing.interval": None}), Told(tmp_path))
    assert calls(tmp_path) == [
        ("open", 0),
        ("begin", 1),
        ("pre_commit", 1),
        ("begin", 2),
        ("finish_processing", 2),
        ("pre_commit", 2),
        ("close",),
        ("open", -1),
        ("commit", 1),
        ("commit", 2),
        ("close",),
    ]


def test_a_subtask_that_starts_again_drops_what_was_begun(tmp_path):
    run(environment(tmp_path, 1), Told(tmp_path), 200, FailsOnce(tmp_path, 120))
    told = calls(tmp_path)
    committed = [n for what, *more in told if what in ("commit", "recover_and_commit") for n in more]
    dropped = {n for what, *more in told if what in ("abort", "recover_and_abort") for n in more}
    begun = {n for what, *more in told if what == "begin" for n in more}
    assert set(committed) | dropped == begun
    assert not set(committed) & dropped
    assert ("recover_and_abort", 3) in told, "the transaction of the epoch that failed was in the checkpoint's state"


def test_a_second_try_is_recover_and_commit_for_all_of_the_checkpoint(tmp_path, fault):
    fault("commit.between:3:raise")
    run(environment(tmp_path, 1, **{"execution.checkpointing.interval": None}), Told(tmp_path), 200)
    tried = [call for call in calls(tmp_path) if "commit" in call[0] and call[0] != "pre_commit"]
    first, second = [("commit", n) for n in (1, 2, 3)], [("recover_and_commit", n) for n in (1, 2, 3)]
    assert tried == [*first, *second, ("commit", 4)]


class WithContext(Told):
    def initialize_user_context(self):
        return {"made": Path("by", "a", "subtask")}

    def finish_recovering_context(self, handled_transactions):
        self.tell("recovered", *handled_transactions)

    def commit(self, transaction):
        assert self.get_user_context() == {"made": Path("by", "a", "subtask")}
        super().commit(transaction)


def test_the_user_context_goes_along(tmp_path):
    run(environment(tmp_path, 1), WithContext(tmp_path), 200, FailsOnce(tmp_path, 120))
    assert ("recovered", 3) in calls(tmp_path)


class NeverAgain(Told):
    def commit(self, transaction):
        raise OSError("the first answer is lost")

    def recover_and_commit(self, transaction):
        raise OSError("it has timed out")


def test_failures_after_the_timeout_are_given_up_if_that_is_wanted(tmp_path, caplog):
    function = NeverAgain(tmp_path)
    function.set_transaction_timeout(1).ignore_failures_after_transaction_timeout()
    function.enable_transaction_timeout_warnings(0.5)
    with caplog.at_level(logging.WARNING, "headrace"):
        run(environment(tmp_path, 1, **{"execution.checkpointing.interval": None}), function)
    assert "its data is given up" in caplog.text
    assert "its timeout is 1 ms" in caplog.text


def test_failures_are_not_given_up_before_the_timeout(tmp_path):
    function = NeverAgain(tmp_path)
    function.set_transaction_timeout(3_600_000).ignore_failures_after_transaction_timeout()
    with pytest.raises(UserCodeError, match="it has timed out") as raised:
        run(environment(tmp_path, 1, **{"restart-strategy.type": "none"}), function)
    assert raised.value.uid == "sink"


class Failing(Told):
    def invoke(self, transaction, value, context):
        if value == 42:
            raise ValueError("not this one")


def test_an_error_names_the_record(tmp_path):
    with pytest.raises(UserCodeError, match="not this one") as raised:
        run(environment(tmp_path, 1, **{"restart-strategy.type": "none"}), Failing(tmp_path))
    assert raised.value.record == "42"
    assert raised.value.uid == "sink"


class Counting(Told, CheckpointedFunction, CheckpointListener):
    """A sink with state of its own, which listens to checkpoints."""

    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("count", None))
        self.count = sum(self.state.get())
        self.tell("restored", context.is_restored(), self.count)

    def snapshot_state(self, context):
        self.state.update([self.count])

    def invoke(self, transaction, value, context):
        self.count += 1

    def finish_processing(self, transaction):
        self.tell("counted", self.count)

    def notify_checkpoint_complete(self, checkpoint_id):
        self.tell("complete")


def test_state_of_the_function(tmp_path):
    run(environment(tmp_path, 1), Counting(tmp_path), 200, FailsOnce(tmp_path, 120))
    told = calls(tmp_path)
    assert ("restored", False, 0) in told
    assert ("restored", True, 100) in told
    assert ("counted", 200) in told
    assert ("complete",) in told


# ---------------------------------------------------------------- write-ahead


class NoCommitter(GenericWriteAheadSink):
    def __init__(self):
        pass

    def send_values(self, values, checkpoint_id, timestamp):
        return True


def test_a_write_ahead_sink_needs_its_committer(tmp_path):
    with pytest.raises(InvalidProgramError, match="has no committer"):
        numbers(environment(tmp_path), 1).add_sink(NoCommitter())

    class Wrong(NoCommitter):
        def __init__(self):
            GenericWriteAheadSink.__init__(self, "table")

    with pytest.raises(TypeMismatchError, match="needs a CheckpointCommitter"):
        Wrong()


# ---------------------------------------------------------------- writers


class Times(Sink):
    def __init__(self, path):
        self.path = path

    def create_writer(self, context):
        assert (context.get_subtask_id(), context.get_number_of_parallel_subtasks()) == (0, 1)
        assert context.get_restored_checkpoint_id() is None
        return TimesWriter(self.path)


class TimesWriter(SinkWriter):
    def __init__(self, path):
        self.file = open(path, "a")

    def write(self, element, context):
        print("element", element, context.timestamp(), context.current_watermark() < element, file=self.file)

    def write_watermark(self, watermark):
        print("watermark", watermark, file=self.file)

    def flush(self, end_of_input):
        print("flush", end_of_input, file=self.file)

    def close(self):
        print("close", file=self.file)
        self.file.close()


class ValueIsTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 10


def test_a_writer_alone(tmp_path):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ValueIsTime())
    env = environment(tmp_path, 1)
    env.from_source(NumberSequenceSource(1, 2), strategy, "numbers").sink_to(Times(tmp_path / "out"))
    env.execute()
    assert (tmp_path / "out").read_text().splitlines() == [
        "element 1 10 True",
        "element 2 20 True",
        "watermark 9223372036854775807",
        "flush True",
        "close",
    ]


class OddSink(Sink, SupportsCommitter):
    def create_writer(self, context):
        return TimesWriter("/dev/null")

    def create_committer(self, context):
        raise AssertionError("never asked")


class PlainSink(Sink):
    def create_writer(self, context):
        return PreparingWriter()


class PreparingWriter(CommittingSinkWriter):
    def write(self, element, context):
        pass

    def flush(self, end_of_input):
        pass

    def prepare_commit(self):
        return ["something"]


@pytest.mark.parametrize("sink", [OddSink(), PlainSink()])
def test_writer_and_sink_must_fit(tmp_path, sink):
    env = environment(tmp_path, **{"restart-strategy.type": "none"})
    numbers(env, 1).sink_to(sink)
    with pytest.raises(InvalidProgramError, match="prepare_commit"):
        env.execute()


class GivenUp(PlainSink, SupportsCommitter):
    def create_committer(self, context):
        return GivingUp()


class GivingUp(Committer):
    def commit(self, requests):
        for request in requests:
            request.signal_failed_with_known_reason(OSError("the file is gone"))


def test_what_is_given_up_does_not_stop_the_job(tmp_path, caplog):
    env = environment(tmp_path, 1)
    numbers(env, 10).sink_to(GivenUp())
    with caplog.at_level(logging.ERROR, "headrace"):
        env.execute()
    assert "'something' is given up" in caplog.text


class Refusing(Told):
    def commit(self, transaction):
        raise CommitRefusedError("the outer system has forgotten it")

    recover_and_commit = commit


def test_output_of_a_sink_that_is_gone_ends_the_job_at_once(tmp_path):
    """Starting the same program again and again, as the strategy would, cannot bring the sink back."""
    named = {"headrace.job.id": "changed", "restart-strategy.type": "none"}
    env = environment(tmp_path, 1, **named)
    numbers(env, 500).add_sink(Refusing(tmp_path)).uid("sink")
    with pytest.raises(CommitRefusedError, match="the outer system has forgotten it"):
        env.execute()
    env = environment(tmp_path, 1, **{**named, "restart-strategy.type": None})
    numbers(env, 500).print()
    with pytest.raises(IncompatibleStateError, match="a sink that the program does not have"):
        env.execute()


class FourWays(Sink, SupportsCommitter):
    def create_writer(self, context):
        return FourWaysWriter()

    def create_committer(self, context):
        return FourWaysCommitter(context.metric_group().counter("asked"))


class FourWaysWriter(PreparingWriter):
    def prepare_commit(self):
        return ["fine", "again", "known", "lost"]


class FourWaysCommitter(Committer):
    def __init__(self, asked):
        self.asked = asked

    def commit(self, requests):
        self.asked.inc(len(requests))
        for request in requests:
            if request.get_committable() == "again" and request.get_number_of_retries() == 0:
                request.retry_later()
            elif request.get_committable() == "known":
                request.signal_already_committed()
            elif request.get_committable() == "lost":
                request.signal_failed_with_known_reason(OSError("gone"))


def committer_metrics(env):
    """What the view of the job says of the committer, once the job has ended."""
    job = env.submit("commits")
    job.wait(30)
    metrics = job.view().vertices[-1].subtasks[0].metrics
    found = {name.rpartition(".")[2]: value for name, value in metrics.items() if "Sink" in name}
    return {name: value for name, value in found.items() if name.endswith("Committables") or name == "asked"}


def test_the_metrics_of_a_committer(tmp_path):
    env = environment(tmp_path, 1)
    numbers(env, 10).sink_to(FourWays())
    found = committer_metrics(env)
    each = found["totalCommittables"] // 4
    assert each > 0
    assert found == {
        "totalCommittables": 4 * each,
        "successfulCommittables": 2 * each,
        "alreadyCommittedCommittables": each,
        "failedCommittables": each,
        "retriedCommittables": each,
        "pendingCommittables": 0,
        "asked": 5 * each,
    }


def test_the_metrics_of_commits_that_are_tried_again(tmp_path, fault):
    env = environment(tmp_path, 1)
    numbers(env, 10).add_sink(Told(tmp_path)).name("Sink: told")
    fault("commit.post:1:raise")
    found = committer_metrics(env)
    assert found["successfulCommittables"] == found["totalCommittables"] > 0
    assert found["alreadyCommittedCommittables"] > 0
    assert found["pendingCommittables"] == 0
