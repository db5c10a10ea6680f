"""The job that is killed: four pipelines over three sources, exactly-once into files.

A. stateless map of all records, and one that counts in an attribute which is made state. B. keyed: is each `seq` the one after the last, and how many were there. C. session and
sliding windows, with what is late. D. interval join, pattern, event-time timers. E. a map that gives another answer each time it is
asked, whose results go two ways: both must tell of the same time.

    python -m chaos_kit.workload '{"root": "/tmp/x", "seed": 1, "records": 200}'

Ends with 0 when the job has finished, 3 if another driver has taken it over, 4 if a restore was refused, 5 else.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from chaos_kit import sql_workload
from chaos_kit.file_sink import FolderSink
from chaos_kit.once import nth_times
from chaos_kit.records import DISORDER, SPLITS, STEP, Record, split_records, watermarks
from chaos_kit.rescaler import FILE, Rescaler
from headrace.cep import CEP, Pattern
from headrace.checkpoint.errors import FencedError, RestoreRefusedError
from headrace.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from headrace.common.errors import JobExecutionError
from headrace.common.serialization import Encoder
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import Batch, ReaderContext, SplitReader
from headrace.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink, RollingPolicy
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from headrace.datastream.functions import CheckpointedFunction
from headrace.datastream.state import ListStateDescriptor, ValueStateDescriptor
from headrace.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows
from headrace.foundation import faultpoints

FINISHED, FENCED, REFUSED, FAILED = 0, 3, 4, 5
STOP, STOPPED = "stop-request", "stop-answer"
"""Files of the trial: the request to stop with a savepoint, and the path of the savepoint."""
_LONGEST_WAIT_S = 30.0
GAP, SIZE, SLIDE, NEAR, WITHIN, BEAT = 35, 200, 100, 50, 300, 500
"""Of sessions, sliding windows, the interval join, the pattern and the timers, in milliseconds."""
SETTINGS = {
    "execution.checkpointing.interval": "10 ms",
    "headrace.epoch.first-records": "1",
    "headrace.epoch.max-records": "1",
    "headrace.progress": "off",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "20",
    "restart-strategy.fixed-delay.delay": "5 ms",
}


class ReplayedSource(Source):
    """Gives the records of one source again from any position. `marks`: it knows its own watermarks."""

    def __init__(self, seed: int, source: int, count: int, chunk: int, marks: bool) -> None:
        self.facts, self.marks = (seed, source), marks
        self.count, self.chunk = count, chunk

    def splits(self, parallelism: int) -> list[Split]:
        return [Split(f"{self.facts[1]}.{number}", number) for number in range(SPLITS[self.facts[1]])]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        facts = (*self.facts, split.payload, self.count)
        return _Reader(split_records(*facts), watermarks(*facts) if self.marks else {}, self.chunk, position or 0)


class _Reader(SplitReader):
    def __init__(self, records: tuple[Record, ...], marks: dict[int, int], chunk: int, position: int) -> None:
        self._records, self._marks, self._chunk, self._at = records, marks, chunk, position

    def read(self, limit: int, now: int) -> Batch:
        del limit  # a batch is small, and an epoch has at least one: so runs are short whatever the rate is
        end = min(self._at + self._chunk, len(self._records), (self._at // STEP + 1) * STEP)
        part = self._records[self._at : end]
        self._at = end
        self.finished = end == len(self._records)
        return Batch([tuple(r) for r in part], [r.time for r in part], self._marks.get(end))

    def position(self) -> int:
        return self._at


class Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[5])


class Harm:
    """Lets user code fail at the n-th record, once over all lives of the trial."""

    def __init__(self, root: str, harm: str) -> None:
        self.root, self.harm = root, harm

    def __call__(self, what: str) -> None:
        if self.harm and nth_times(self.root, self.harm, what):
            raise ValueError(f"user code failed in {what}")


class Follow(KeyedProcessFunction):
    """B: in keyed state the last number of the key and how many there were."""

    def __init__(self, harm: Harm) -> None:
        self.harm = harm

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.harm("process")
        r = Record(*value)
        last, count = self.last.value() or 0, (self.count.value() or 0) + 1
        self.last.update(r.seq)
        self.count.update(count)
        yield f"B|{r.source}|{r.key}|{r.seq}|{count}|{'ok' if r.seq - last == 1 else 'GAP'}"


class Beat(KeyedProcessFunction):
    """D: a timer at the end of each half second tells how many records came since the last one."""

    def __init__(self, harm: Harm) -> None:
        self.harm = harm

    def open(self, runtime_context: Any) -> None:
        self.since = runtime_context.get_state(ValueStateDescriptor("since", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.since.update((self.since.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(value[5] // BEAT * BEAT + BEAT)
        return ()

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        self.harm("timer")
        count = self.since.value() or 0
        self.since.clear()
        yield f"T|{ctx.get_current_key()}|{timestamp}|{count}"


class Sum(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Any, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value[4]

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


class Named(ProcessWindowFunction):
    def __init__(self, letter: str, harm: Harm) -> None:
        self.letter, self.harm = letter, harm

    def process(self, key: Any, context: Any, elements: Any) -> Any:
        self.harm("window")
        ((count, total),) = elements
        window = context.window()
        yield f"{self.letter}|{key}|{window.start}|{window.end}|{count}|{total}"


class Numbered(MapFunction, CheckpointedFunction):
    """A: the number of each record in its subtask; it stands in an attribute, and in operator state with a checkpoint."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("number", Types.LONG()))
        self.number = sum(self.state.get())

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def snapshot_state(self, context: Any) -> None:
        self.state.update([self.number])

    def map(self, value: Any) -> str:
        self.number += 1
        return f"N|{self.subtask}|{self.number}"


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield f"J|{left[3]}|{Record(*left).id}|{Record(*right).id}"


def replayed(p: dict[str, Any], number: int) -> ReplayedSource:
    """Return one of the three sources of a trial."""
    return ReplayedSource(p["seed"], number, p["records"], p.get("chunk", STEP), number == 1)


def build(env: StreamExecutionEnvironment, p: dict[str, Any]) -> None:
    """The four pipelines; the ones in SQL if the trial is about them."""
    if p.get("workload") == "sql":
        sql_workload.build(env, p, partial(replayed, p))
        return
    root = p["root"]
    wide = p.get("parallelism", 2)
    harm = Harm(root, p.get("harm", ""))
    out = FolderSink(os.path.join(root, "out"), p.get("sink_harm", ""))
    nothing = WatermarkStrategy.no_watermarks()
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    sources = [
        env.from_source(replayed(p, 0), nothing, "s0").set_parallelism(2).uid("s0"),
        env.from_source(replayed(p, 1), nothing, "s1").set_parallelism(1).uid("s1"),
        env.from_source(replayed(p, 2), bounded.with_timestamp_assigner(Times()), "s2").set_parallelism(1).uid("s2"),
    ]
    everything = sources[0].union(sources[1], sources[2])

    def stamp(value: Any) -> str:
        harm("map")
        return f"A|{Record(*value).id}|{value[7]}|{value[8]}"

    stamped = everything.rebalance().map(stamp, Types.STRING()).uid("a")
    stamped.sink_to(out).uid("sink-a").set_parallelism(wide)
    more_sinks(stamped, p)
    everything.key_by(lambda v: (v[0], v[3])).process(Follow(harm)).uid("b").sink_to(out).uid("sink-b")

    everything.rebalance().map(Numbered()).uid("n").sink_to(out).uid("sink-n").set_parallelism(wide)
    asked = sources[0].map(lambda v: (v[3], f"{Record(*v).id}|{os.urandom(8).hex()}")).uid("e").set_parallelism(2)
    asked.key_by(lambda v: v[0]).map(lambda v: f"E|1|{v[1]}").uid("e1").sink_to(out).uid("sink-e1")
    asked.rebalance().map(lambda v: f"E|2|{v[1]}").uid("e2").sink_to(out).uid("sink-e2")

    marked = sources[1].key_by(lambda v: v[3])
    late_session, late_sliding = OutputTag("late-session"), OutputTag("late-sliding")
    sessions = (
        marked.window(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP)))
        .side_output_late_data(late_session)
        .aggregate(Sum(), Named("S", harm))
        .uid("sessions")
    )
    sliding = (
        marked.window(SlidingEventTimeWindows.of(Time.milliseconds(SIZE), Time.milliseconds(SLIDE)))
        .side_output_late_data(late_sliding)
        .aggregate(Sum(), Named("W", harm))
        .uid("sliding")
    )
    lates = [
        stream.get_side_output(tag).map(lambda v, letter=letter: f"{letter}|{Record(*v).id}").uid(f"late-{letter}")
        for stream, tag, letter in ((sessions, late_session, "X"), (sliding, late_sliding, "Y"))
    ]
    sessions.union(sliding, *lates).sink_to(out).uid("sink-c").set_parallelism(wide)

    timely = sources[1].filter(lambda v: not v[6]).uid("timely-1").key_by(lambda v: v[3])
    other = sources[2].filter(lambda v: not v[6]).uid("timely-2").key_by(lambda v: v[3])
    pairs = timely.interval_join(other).between(-NEAR, NEAR).process(Pair()).uid("join")

    def first(value: Any) -> bool:
        harm("condition")
        return value[4] % 3 == 0

    pattern = Pattern.begin("x").where(first).followed_by("y").where(lambda v: v[4] % 3 == 1)
    matches = (
        CEP.pattern(timely, pattern.within(Time.milliseconds(WITHIN)))
        .select(lambda m: f"P|{m['x'][0][3]}|{Record(*m['x'][0]).id}|{Record(*m['y'][0]).id}")
        .uid("pattern")
    )
    beats = marked.process(Beat(harm)).uid("beats")
    pairs.union(matches, beats).sink_to(out).uid("sink-d").set_parallelism(1)


def more_sinks(stamped: Any, p: dict[str, Any]) -> None:
    """The lines of A once more, through sinks of headrace: files whose parts stay open over checkpoints, and a table."""
    root, chosen = p["root"], p.get("sinks", "")
    if "files" in chosen:
        policy = RollingPolicy.default_rolling_policy(part_size=3000)
        policy = RollingPolicy.on_checkpoint_rolling_policy() if "each" in chosen else policy
        files = FileSink.for_row_format(os.path.join(root, "files"), Encoder.simple_string_encoder())
        files = files.with_rolling_policy(policy).with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        stamped.sink_to(files.build()).uid("files")
    if "table" in chosen:
        path = os.path.join(root, "table.db")
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS lines (line TEXT)")
        kind = Types.ROW([Types.STRING()])
        url = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{path}").build()
        insert = JdbcSink.exactly_once_sink(
            "INSERT INTO lines VALUES (?)", kind, url, JdbcExecutionOptions.builder().build()
        )
        stamped.map(lambda line: Row(line), kind).uid("rows").add_sink(insert).uid("table")


def configuration_of(p: dict[str, Any]) -> Configuration:
    configuration = Configuration()
    fixed = {
        "headrace.executor": p.get("executor", "local"),
        "headrace.job.id": p.get("job", "chaos"),
        **({"headrace.rescale.file": os.path.join(p["root"], FILE)} if p.get("rescales") else {}),
        "execution.checkpointing.dir": os.path.join(p["root"], "checkpoints"),
    }
    for key, value in {**SETTINGS, **fixed, **p.get("settings", {})}.items():
        configuration.set_string(key, str(value))
    return configuration


class StopRequests:
    """Stops the job with a savepoint once the file that asks for it exists; files the answer, empty if it came too late.

    The file appears while the driver sleeps at a fault point. The point is left only after the job has the request: otherwise
    the job might end before the thread that looks for the file gets to run.
    """

    def __init__(self, job: Any, root: str) -> None:
        self._job, self._root = job, root
        self._over, self._posted = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        post = job._parts.requests.post

        def note(request: Any) -> None:
            try:
                post(request)
            finally:
                self._posted.set()

        job._parts.requests.post = note
        if faultpoints._watch is not None:
            faultpoints._watch.reach = self._waiting(faultpoints._watch.reach)
        self._thread.start()

    def end(self) -> None:
        """The job has ended. A request that was made by then is answered."""
        self._over.set()
        self._thread.join()

    def _asked(self) -> bool:
        return os.path.exists(os.path.join(self._root, STOP))

    def _waiting(self, reach: Callable[[str], None]) -> Callable[[str], None]:
        def reach_and_wait(point: str) -> None:
            reach(point)
            if self._asked():
                self._posted.wait(_LONGEST_WAIT_S)

        return reach_and_wait

    def _watch(self) -> None:
        while not self._asked():
            if self._over.wait(0.005) and not self._asked():
                return
        path = ""
        with contextlib.suppress(JobExecutionError):
            path = self._job.stop_with_savepoint(False, os.path.join(self._root, "savepoints"))
        with open(os.path.join(self._root, STOPPED), "w") as answer:
            answer.write(path)


def run(p: dict[str, Any]) -> int:
    """One life of the driver."""
    env = StreamExecutionEnvironment.get_execution_environment(configuration_of(p))
    env.set_parallelism(p.get("parallelism", 2))
    build(env, p)
    try:
        job = env.submit("chaos")
        requests = StopRequests(job, p["root"])
        rescaler = Rescaler(job, p["root"], p["rescales"]) if p.get("rescales") else None
        try:
            job.wait()
        finally:
            requests.end()
            if rescaler is not None:
                rescaler.close()
    except FencedError as error:
        print(f"fenced: {error}", file=sys.stderr)
        return FENCED
    except RestoreRefusedError as error:
        print(f"refused: {error}", file=sys.stderr)
        return REFUSED
    except Exception as error:
        import traceback

        traceback.print_exception(error)
        return FAILED
    return FINISHED


if __name__ == "__main__":
    sys.exit(run(json.loads(sys.argv[1])))
