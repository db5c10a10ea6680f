"""StreamExecutionEnvironment: settings, sources, what a program consists of, and how it is handed to the runtime."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from xml.etree import ElementTree

import pytest

from headrace.common import Configuration, Row, Types, WatermarkStrategy
from headrace.common.errors import InvalidProgramError, JobCancelledError, TypeMismatchError
from headrace.common.execution_config import ExecutionConfig
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import (
    RuntimeExecutionMode,
    SlotSharingGroup,
    SourceFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors import FileSource, NumberSequenceSource, StreamFormat
from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.environment_options import EnvironmentOptions
from headrace.datastream.functions import ParallelSourceFunction
from headrace.graph.specs import CollectSink

pytestmark = pytest.mark.filterwarnings("ignore::headrace.compatibility.ignored_settings.WithoutEffectWarning")


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)


class FakeJob:
    """What the runtime gives for a submitted graph."""

    def __init__(self, graph, configuration, spark):
        self.graph, self.configuration, self.spark = graph, configuration, spark
        self.interrupted = False
        self.left = False
        self.cancelled = False
        self.elements = [1, 2, 3]

    def wait(self, timeout=None):
        if self.cancelled:
            raise JobCancelledError("cancelled")
        if self.interrupted:
            raise KeyboardInterrupt
        return "result"

    def cancel(self):
        self.cancelled = True

    def interrupt(self):
        self.left = True
        self.cancel()

    def results(self, collect_id):
        assert any(
            isinstance(n.spec, CollectSink) and n.spec.collect_id == collect_id
            for v in self.graph.vertices.values()
            for n in v.nodes
        )
        return iter(self.elements)


@pytest.fixture
def jobs(monkeypatch):
    submitted: list[FakeJob] = []

    def submit(graph, configuration, *, spark=None, restart_strategy=None):
        submitted.append(FakeJob(graph, configuration, spark))
        return submitted[-1]

    module = types.ModuleType("headrace.submission")
    module.submit = submit
    monkeypatch.setitem(sys.modules, "headrace.submission", module)
    return submitted


# ---------------------------------------------------------------------- settings


def test_parallelism(env, monkeypatch):
    plain = StreamExecutionEnvironment.get_execution_environment()
    assert plain.get_parallelism() == plain.get_default_local_parallelism() >= 1
    given = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("parallelism.default", "7"))
    assert given.get_parallelism() == given.get_config().get_parallelism() == 7
    assert given.set_parallelism(-1).get_parallelism() == plain.get_parallelism()
    with pytest.raises(InvalidProgramError, match="at least one"):
        env.set_parallelism(0)
    with pytest.raises(TypeMismatchError):
        env.set_parallelism("2")
    monkeypatch.setattr(EnvironmentOptions, "_default_local_parallelism", None)
    env.set_default_local_parallelism(9)
    assert (env.get_parallelism(), env.get_default_local_parallelism()) == (2, 9)
    assert StreamExecutionEnvironment.get_execution_environment().get_parallelism() == 9


def test_a_given_spark_tells_the_parallelism():
    session = types.SimpleNamespace(sparkContext=types.SimpleNamespace(defaultParallelism=5))
    for spark in (session, session.sparkContext):
        assert StreamExecutionEnvironment.get_execution_environment(spark=spark).get_parallelism() == 5


def test_max_parallelism(env):
    assert env.get_max_parallelism() == -1
    assert env.set_max_parallelism(8).get_max_parallelism() == 8
    node = env.from_collection([1]).map(str).transformation_id
    assert env.get_stream_graph().nodes[node].max_parallelism == 8
    with pytest.raises(InvalidProgramError, match="out of bounds"):
        env.set_max_parallelism(32769)


def test_configuration_is_copied_and_shared_with_the_execution_config(env):
    configuration = Configuration().set_string("a", "1")
    made = StreamExecutionEnvironment.get_execution_environment(configuration)
    made.configure(Configuration().set_string("a", "2"))
    assert configuration.get_string("a", "") == "1"
    assert made.get_configuration().get_string("a", "") == "2"
    assert isinstance(env.get_config(), ExecutionConfig) and env.get_config() is env.get_config()
    env.get_config().set_parallelism(6)
    assert env.get_parallelism() == 6
    with pytest.raises(TypeMismatchError):
        StreamExecutionEnvironment.get_execution_environment({"a": 1})
    with pytest.raises(TypeMismatchError):
        env.configure({"a": 1})


def test_runtime_mode(env):
    assert env.get_runtime_mode() is RuntimeExecutionMode.STREAMING
    env.from_collection([1]).print()
    assert not env.get_stream_graph().settings.batch
    assert env.set_runtime_mode(RuntimeExecutionMode.BATCH).get_stream_graph().settings.batch
    assert env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC).get_stream_graph().settings.batch
    env.socket_text_stream("localhost", 9999).print()
    assert not env.get_stream_graph().settings.batch
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    with pytest.raises(InvalidProgramError, match="UNBOUNDED source"):
        env.get_stream_graph()
    env.configure(Configuration().set_string("execution.runtime-mode", "SOMETIMES"))
    with pytest.raises(InvalidProgramError, match="is not a known mode"):
        env.get_runtime_mode()
    with pytest.raises(TypeMismatchError):
        env.set_runtime_mode("BATCH")


def test_chaining_and_buffers(env):
    env.from_collection([1]).map(str).map(str).print()
    assert env.is_chaining_enabled() and len(env.get_job_graph().vertices) == 2
    assert not env.disable_operator_chaining().is_chaining_enabled()
    assert len(env.get_job_graph().vertices) == 4
    assert env.is_chaining_of_operators_with_different_max_parallelism_enabled()
    assert (env.get_buffer_timeout(), env.set_buffer_timeout(5).get_buffer_timeout()) == (100, 5)
    assert env.set_buffer_timeout(-1).get_buffer_timeout() == -1
    with pytest.raises(InvalidProgramError, match="non-negative or -1"):
        env.set_buffer_timeout(-2)


def test_python_dependencies_and_files(env):
    env.add_python_file("a.py")
    env.add_python_file("b.zip")
    env.set_python_requirements("requirements.txt", "cache")
    env.add_python_archive("data.zip", "data")
    env.set_python_executable("/usr/bin/python3")
    env.register_cached_file("/tmp/file", "name", executable=True)
    values = env.get_configuration().to_dict()
    assert values["python.files"] == "a.py,b.zip"
    assert values["python.requirements"] == "requirements.txt#cache"
    assert values["python.archives"] == "data.zip#data"
    assert values["python.executable"] == "/usr/bin/python3"
    assert "name:name,path:/tmp/file,executable:true" in values["pipeline.cached-files"]
    with pytest.raises(InvalidProgramError, match="already existed"):
        env.register_cached_file("/tmp/other", "name")


def test_slot_sharing_groups_keep_their_resources(env):
    group = SlotSharingGroup.builder("g").set_cpu_cores(1.0).set_task_heap_memory_mb(100).build()
    env.register_slot_sharing_group(group).register_slot_sharing_group(group)
    other = SlotSharingGroup.builder("g").set_cpu_cores(2.0).set_task_heap_memory_mb(100).build()
    with pytest.raises(InvalidProgramError, match="different resources"):
        env.register_slot_sharing_group(other)


def test_uids_can_be_demanded(env):
    env.get_config().disable_auto_generated_uids()
    stream = env.from_collection([1]).uid("source").map(str).name("to text")
    with pytest.raises(InvalidProgramError, match="operator to text"):
        env.get_stream_graph()
    stream.set_uid_hash("a" * 32)
    assert len(env.get_stream_graph().nodes) == 2


# ---------------------------------------------------------------------- sources


def test_collections_take_their_type(env):
    stream = env.from_collection([[300, "a"], (1, "b")], Types.TUPLE([Types.BYTE(), Types.STRING()]))
    assert stream.transformation.spec.source.elements == [(44, "a"), (1, "b")]
    rows = env.from_collection([(1, "a")], Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]))
    assert rows.transformation.spec.source.elements == [Row(id=1, name="a")]
    assert env.from_collection(iter(range(3))).transformation.spec.source.elements == [0, 1, 2]
    with pytest.raises(TypeMismatchError):
        env.from_collection([1], Types.STRING())
    with pytest.raises(TypeMismatchError, match="takes a collection"):
        env.from_collection("text")


def test_from_source(env, tmp_path):
    none = WatermarkStrategy.no_watermarks()
    numbers = env.from_source(NumberSequenceSource(1, 3), none, "numbers")
    assert (numbers.get_name(), numbers.get_type()) == ("numbers", Types.LONG())
    assert env.from_source(NumberSequenceSource(1, 3), none, "n", Types.INT()).get_type() == Types.INT()
    made = DataGeneratorSource(str, 5, type_info=Types.STRING())
    assert env.from_source(made, none, "made").get_type() == Types.STRING()
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    assert env.from_source(builder.build(), none, "lines").get_type() == Types.STRING()
    with pytest.raises(TypeMismatchError, match="call build"):
        env.from_source(builder, none, "lines")
    with pytest.raises(TypeMismatchError, match="watermark strategy"):
        env.from_source(made, "made", none)
    with pytest.raises(TypeMismatchError, match="takes a source"):
        env.from_source([1], none, "list")


def test_add_source(env):
    class Once(SourceFunction):
        def run(self, ctx):
            ctx.collect(1)

        def cancel(self):
            pass

    class Everywhere(Once, ParallelSourceFunction):
        pass

    alone, spread = env.add_source(Once()), env.add_source(Everywhere(), "spread", Types.INT())
    alone.print()
    spread.print()
    nodes = env.get_stream_graph().nodes
    assert [nodes[s.transformation_id].parallelism for s in (alone, spread)] == [1, 2]
    assert (spread.get_name(), spread.get_type()) == ("spread", Types.INT())
    with pytest.raises(TypeError, match="SourceFunction"):
        env.add_source([1])
    with pytest.raises(TypeMismatchError, match="add_source"):
        env.from_source(Once(), WatermarkStrategy.no_watermarks(), "x")


def test_a_source_that_no_operator_reads_is_no_part_of_the_job(env):
    forever = DataGenerator(lambda index: index)
    unread = [env.from_source(forever, WatermarkStrategy.no_watermarks(), name) for name in ("one", "two", "three")]
    unread[0].union(unread[1])
    unread[2].key_by(lambda n: n)
    env.from_collection([1]).map(str)
    assert [node.name for node in env.get_stream_graph().nodes.values()] == ["Source: Collection Source", "Map"]
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    assert len(env.get_stream_graph().nodes) == 2, "nor does it make a batch impossible"
    unread[1].map(str)
    with pytest.raises(InvalidProgramError, match="UNBOUNDED"):
        env.get_stream_graph()


def test_other_sources(env):
    assert env.read_text_file("/tmp/file").get_type() == Types.STRING()
    assert env.from_sequence(1, 2).get_type() == Types.LONG()
    assert env.socket_text_stream("localhost", 9999).get_type() == Types.STRING()
    with pytest.raises(TypeMismatchError, match="create_input takes an input format"):
        env.create_input(None)


# ---------------------------------------------------------------------- running


def test_execute_hands_the_graph_and_the_settings_over(env, jobs):
    env.from_collection([1]).print()
    env.configure(Configuration().set_string("headrace.epoch.target-ms", "5"))
    assert env.execute("my job") == "result"
    (job,) = jobs
    assert job.graph.name == "my job"
    assert job.configuration.get_string("headrace.epoch.target-ms", "") == "5"
    assert job.spark is None


def test_names_of_jobs(env, jobs):
    env.from_collection([1]).print()
    env.execute()
    env.from_collection([1]).print()
    env.configure(Configuration().set_string("pipeline.name", "from configuration"))
    env.execute()
    assert [job.graph.name for job in jobs] == ["Flink Streaming Job", "from configuration"]


def test_each_run_has_what_was_built_since_the_last_one(env, jobs):
    numbers = env.from_collection([1]).map(str).name("shared")
    numbers.print().name("first")
    env.execute()
    with pytest.raises(InvalidProgramError, match="No operators defined"):
        env.execute()
    numbers.print().name("second")
    env.execute()
    names = [[n.name for v in job.graph.vertices.values() for n in v.nodes] for job in jobs]
    assert names == [
        ["Source: Collection Source", "shared", "Sink: first"],
        ["Source: Collection Source", "shared", "Sink: second"],
    ]


def test_interrupt_ends_the_job(env, jobs, monkeypatch):
    env.from_collection([1]).print()
    monkeypatch.setattr(FakeJob, "wait", FakeJob.wait)
    original = FakeJob.__init__

    def interrupted(self, *arguments):
        original(self, *arguments)
        self.interrupted = True

    monkeypatch.setattr(FakeJob, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        env.execute()
    assert jobs[0].left


def test_execute_and_collect(env, jobs):
    with env.from_collection([1]).map(str).execute_and_collect("collecting") as results:
        assert next(results) == 1
    assert jobs[0].cancelled and jobs[0].graph.name == "collecting"
    assert list(env.from_collection([1]).execute_and_collect()) == [1, 2, 3]
    assert not jobs[1].cancelled
    assert env.from_collection([1]).execute_and_collect(limit=2) == [1, 2]
    assert jobs[2].cancelled
    assert env.from_collection([1]).execute_and_collect(limit=9) == [1, 2, 3]
    assert not jobs[3].cancelled
    with pytest.raises(InvalidProgramError, match="greater than 0"):
        env.from_collection([1]).execute_and_collect(limit=0)


def test_collecting_keeps_the_order_of_the_stream(env, jobs):
    env.from_collection([1]).execute_and_collect()
    env.from_collection([1]).map(str).execute_and_collect()
    env.from_collection([1]).map(str).set_parallelism(3).execute_and_collect()
    env.from_collection([1]).union(env.from_collection([2])).execute_and_collect()
    sinks = [n for job in jobs for v in job.graph.vertices.values() for n in v.nodes if n.is_sink]
    assert [sink.parallelism for sink in sinks] == [1, 2, 3, 1]
    assert [len(job.graph.vertices) for job in jobs] == [1, 2, 2, 3]


def test_a_stream_can_be_collected_again(env, jobs):
    stream = env.from_collection([1]).map(str)
    assert list(stream.execute_and_collect()) == list(stream.map(str).execute_and_collect()) == [1, 2, 3]
    assert [len([n for v in j.graph.vertices.values() for n in v.nodes]) for j in jobs] == [3, 4]


# ---------------------------------------------------------------------- plans


def test_execution_plan(env):
    source = env.from_collection([1])
    mapped = source.map(str).name("m").set_description("a map")
    keyed = mapped.key_by(lambda x: x)
    sink = keyed.reduce(max).print()
    last = source.rebalance().map(str).set_parallelism(3)
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [n["type"] for n in nodes] == [
        "Source: Collection Source",
        "m",
        "_stream_key_by_map_operator",
        "Reduce",
        "Map",
        "Sink: Print to Std. Out",
    ]
    assert nodes[0] == {
        "id": source.transformation_id,
        "type": "Source: Collection Source",
        "pact": "Data Source",
        "contents": "Source: Collection Source",
        "parallelism": 1,
    }
    assert nodes[1]["contents"] == "a map" and nodes[1]["pact"] == "Operator"
    assert nodes[2]["predecessors"] == [{"id": mapped.transformation_id, "ship_strategy": "FORWARD", "side": "second"}]
    assert nodes[3]["predecessors"] == [{"id": keyed.transformation_id, "ship_strategy": "HASH", "side": "second"}]
    assert nodes[4]["id"] == last.transformation_id and nodes[4]["parallelism"] == 3
    assert nodes[5]["id"] == sink.transformation_id and nodes[5]["pact"] == "Data Sink"


def test_plan_does_not_use_the_program_up(env, jobs):
    env.from_collection([1]).print()
    assert env.get_execution_plan() == env.get_execution_plan()
    env.execute()
    assert len(jobs) == 1


def test_pictures(env):
    env.from_collection([1]).map(str).name('say "hi" <b>').rebalance().print()
    mermaid = env.draw()
    assert mermaid.splitlines()[0] == "flowchart LR"
    assert 'v2["say &quot;hi&quot; &lt;b&gt;<br/>x 2"]' in mermaid
    assert "v1 -->|REBALANCE| v2" in mermaid
    graphviz = env.draw("graphviz")
    assert 'v2 [label="say \\"hi\\" <b>\\nx 2"];' in graphviz and graphviz.endswith("}")
    assert ElementTree.fromstring(env.draw("svg")).tag == "{http://www.w3.org/2000/svg}svg"
    with pytest.raises(InvalidProgramError, match="mermaid or graphviz or svg"):
        env.draw("png")


def test_importing_the_api_loads_no_spark_and_no_runtime():
    packages = "('pyspark', 'headrace.driver', 'headrace.spark', 'headrace.operators.base')"
    check = f"import headrace.datastream, sys; print([m for m in sys.modules if m.startswith({packages})])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
