"""Replays transcripts on Flink itself, through PyFlink, and says where it differs. Not a test: run it by hand after writing one.

    PYTHONPATH=src:tests/semantics PYFLINK_PYTHON tests/semantics/flink/compare.py [PART OF A NAME ...]

with a Python that has PyFlink 2.x and PyYAML, and a JDK (javac). Every transcript that says `flink: same` is built with the
functions of `semantics_kit/functions.py` after `headrace` is replaced by `pyflink` in them, and run in PyFlink's default mode
with bundles of one element, so that functions see each watermark before the next element. Compared are the records of all
outputs and their timestamps (a record without one has the lowest in PyFlink); watermarks show in what functions say of them.

In that mode a timer that a timer registers comes one watermark too late (with larger bundles it does not, but then other
things come late). Transcripts that say `flink: same in thread mode` run in thread mode, where functions are called in Flink's own
order; there timestamps of timers' results are lost, and only values are compared.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = Path(tempfile.mkdtemp(prefix="flink-compare-"))
MIN = -(2**63)
THREADS = "same in thread mode"


def prepare() -> None:
    """The functions with the imports swapped, the strategy compiled, and the environment that the JVM starts Python with."""
    kit = HERE.parent / "semantics_kit"
    (WORK / "swapped_functions.py").write_text((kit / "functions.py").read_text().replace("headrace", "pyflink"))
    import pyflink

    jars = str(Path(pyflink.__file__).parent / "lib" / "*")
    subprocess.run(["javac", "-d", WORK / "classes", "-cp", jars, HERE / "Scripted.java"], check=True)
    subprocess.run(["jar", "cf", WORK / "scripted.jar", "-C", WORK / "classes", "."], check=True)
    sys.path.insert(0, str(WORK))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(WORK), sysconfig.get_paths()["purelib"]])
    os.environ["FLINK_LOG_DIR"] = str(WORK)
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]


prepare()

import swapped_functions  # noqa: E402
from pyflink.common import Configuration, Row, Types, WatermarkStrategy  # noqa: E402
from pyflink.datastream import (  # noqa: E402
    OutputTag,
    ProcessFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflink.java_gateway import get_gateway  # noqa: E402
from semantics_kit.transcript import Feed, read_transcripts  # noqa: E402

from headrace.testing import Record, WatermarkTo  # noqa: E402


class Probe(ProcessFunction):
    """(output, value, timestamp)."""

    def __init__(self, output):
        self.output = output

    def process_element(self, value, ctx):
        yield self.output, value, ctx.timestamp()


def resolve(name):
    name, arguments = (name[0], name[1:]) if isinstance(name, (list, tuple)) else (name, ())
    found = getattr(swapped_functions, name)
    return found(*arguments) if isinstance(found, type) else found


def environment(transcript):
    configuration = Configuration()
    settings = {
        "python.execution-mode": "thread" if transcript.flink == THREADS else "process",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "python.fn-execution.bundle.size": "1",
        "pipeline.jars": f"file://{WORK}/scripted.jar",
        "rest.port": "0",
        "io.tmp.dirs": str(WORK),
    }
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH if transcript.batch else RuntimeExecutionMode.STREAMING)
    return env


def source(env, transcript, number):
    feeds = [s.event for s in transcript.steps if isinstance(s, Feed) and s.input == number]
    if all(isinstance(e, Record) and e.timestamp is None for e in feeds):
        return env.from_collection([repr(e.value) for e in feeds], Types.STRING()).map(eval)
    rows = []
    for event in feeds:
        if isinstance(event, Record):
            rows.append(Row("record", MIN if event.timestamp is None else event.timestamp, repr(event.value)))
        elif isinstance(event, WatermarkTo):
            rows.append(Row("watermark", event.timestamp, ""))
        else:
            raise NotImplementedError(event)
    row_type = Types.ROW([Types.STRING(), Types.LONG(), Types.STRING()])
    stream = env.from_collection(rows, row_type)
    stream = stream.assign_timestamps_and_watermarks(WatermarkStrategy(get_gateway().jvm.Scripted()))
    return stream.flat_map(lambda row: [eval(row[2])] if row[0] == "record" else [])


def attach(stream, entry, second):
    if entry.before is not None:
        stream = getattr(stream, entry.before)()
    if entry.kind == "assign_timestamps":
        assigner = resolve(entry.function["assigner"])
        strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(assigner)
        return stream.assign_timestamps_and_watermarks(strategy)
    function = resolve(entry.function)
    keyed = stream if entry.key is None else stream.key_by(resolve(entry.key))
    if entry.kind == "broadcast_process":
        return keyed.connect(second.broadcast(swapped_functions.RULES)).process(function)
    if entry.inputs == 2:
        connected = stream.connect(second)
        if entry.key is not None:
            connected = connected.key_by(resolve(entry.key), resolve(entry.key2 or entry.key))
        return getattr(connected, entry.kind.removeprefix("co_"))(function)
    return getattr(keyed, entry.kind)(function)


def replay(transcript):
    """By output: what came, as (value, timestamp)."""
    env = environment(transcript)
    streams = [source(env, transcript, number) for number in range(transcript.inputs)]
    stream = streams[0]
    seen = []
    for entry in transcript.operators:
        stream = attach(stream, entry, streams[-1]).set_parallelism(entry.parallelism or 1)
        seen += [
            stream.get_side_output(OutputTag(tag, swapped_functions.ANY)).process(Probe(tag)) for tag in entry.sides
        ]
    everything = stream.process(Probe(None)).union(*seen) if seen else stream.process(Probe(None))
    outputs = {tag: [] for tag in (None, *transcript.sides)}
    with everything.execute_and_collect() as results:
        for output, value, timestamp in results:
            outputs[output].append((tuples(value), timestamp))
    return outputs


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, (list, tuple)) else value


def expected(transcript, tag):
    records = [e for e in transcript.expected(tag) if isinstance(e, Record)]
    return [(tuples(e.value), MIN if e.timestamp is None else e.timestamp) for e in records]


def main(parts):
    chosen = [t for t in read_transcripts(HERE.parent / "transcripts") if not parts or any(p in t.name for p in parts)]
    counts = {"same": 0, "different": 0, "left out": 0}
    for transcript in chosen:
        if transcript.flink not in ("same", THREADS):
            counts["left out"] += 1
            continue
        started = time.time()
        problem = ""
        try:
            outputs = replay(transcript)
        except Exception as error:
            lines = [line for line in str(error).splitlines() if "Error" in line or "Exception" in line]
            problem = "    fails: " + "\n    ".join(lines[-3:])
        else:
            for tag, seen in outputs.items():
                wanted = expected(transcript, tag)
                if transcript.flink == THREADS:
                    seen, wanted = [value for value, _ in seen], [value for value, _ in wanted]
                if transcript.any_order:
                    seen, wanted = sorted(seen, key=repr), sorted(wanted, key=repr)
                if seen != wanted:
                    problem += f"    output {tag or 'main'}\n      flink:    {seen}\n      expected: {wanted}\n"
        verdict = "different" if problem else "same"
        counts[verdict] += 1
        print(f"{verdict:9}  {transcript.file}: {transcript.name}  ({time.time() - started:.1f} s)")
        if problem:
            print(problem.rstrip())
        sys.stdout.flush()
    print(counts)


if __name__ == "__main__":
    importlib.invalidate_caches()
    main(sys.argv[1:])
