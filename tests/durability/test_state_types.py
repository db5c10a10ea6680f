"""A savepoint and a program whose states have other types or names."""

from __future__ import annotations

import logging
import time

import pytest

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.common.errors import StateMigrationError
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

LAST = 3_000


class Keep(KeyedProcessFunction):
    def __init__(self, descriptor, writes):
        self.descriptor = descriptor
        self.writes = writes

    def open(self, runtime_context):
        kind = type(self.descriptor)
        getter = {ListStateDescriptor: "get_list_state", MapStateDescriptor: "get_map_state"}.get(kind, "get_state")
        self.state = getattr(runtime_context, getter)(self.descriptor)

    def process_element(self, value, ctx):
        if self.writes:
            if isinstance(self.descriptor, ListStateDescriptor):
                self.state.update([value])
            elif isinstance(self.descriptor, MapStateDescriptor):
                self.state.put(value, value)
            else:
                self.state.update(value)
            time.sleep(0.001)
        if isinstance(self.descriptor, ValueStateDescriptor):
            yield type(self.state.value()).__name__
        else:
            yield "other"


def program(descriptor, backend, restore=None):
    settings = {
        "headrace.executor": "local",
        "execution.checkpointing.interval": "100 ms",
        "headrace.epoch.max-records": "50",
        "state.backend.type": backend,
    }
    if restore is not None:
        settings["execution.state-recovery.path"] = restore
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    numbers = env.from_source(NumberSequenceSource(0, LAST), WatermarkStrategy.no_watermarks(), "n").uid("n")
    kept = numbers.key_by(lambda v: v % 3).process(Keep(descriptor, restore is None), output_type=Types.STRING())
    return env, kept.uid("k")


def savepoint(descriptor, backend, tmp_path):
    env, kept = program(descriptor, backend)
    kept.filter(lambda v: False).print().uid("p")
    client = env.execute_async("saved")
    return client.stop_with_savepoint(False, str(tmp_path)).result()


VALUE, LIST, MAP = ValueStateDescriptor, ListStateDescriptor, MapStateDescriptor


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
@pytest.mark.parametrize(
    ("saved", "declared", "texts"),
    [
        (VALUE("c", Types.LONG()), VALUE("c", Types.STRING()), ("Long", "String")),
        (LIST("c", Types.LONG()), LIST("c", Types.STRING()), ("Long", "String")),
        (MAP("c", Types.LONG(), Types.LONG()), MAP("c", Types.LONG(), Types.STRING()), ("Long, Long", "Long, String")),
    ],
)
def test_another_type_is_refused_at_once_with_both_types(saved, declared, texts, backend, tmp_path):
    path = savepoint(saved, backend, tmp_path)
    _, kept = program(declared, backend, path)
    with pytest.raises(StateMigrationError) as raised:
        list(kept.execute_and_collect())
    assert texts[0] in str(raised.value.expected)
    assert texts[1] in str(raised.value.seen)


@pytest.mark.parametrize("declared", [Types.LONG(), Types.PICKLED_BYTE_ARRAY()])
def test_the_same_type_and_no_type_are_taken(declared, tmp_path, caplog):
    path = savepoint(VALUE("c", Types.LONG()), "hashmap", tmp_path)
    _, kept = program(VALUE("c", declared), "rocksdb", path)
    with caplog.at_level(logging.WARNING, "headrace"):
        assert "int" in set(kept.execute_and_collect())
    assert "other states" not in caplog.text


def test_a_renamed_state_is_named_in_one_line(tmp_path, caplog):
    path = savepoint(VALUE("count", Types.LONG()), "hashmap", tmp_path)
    _, kept = program(VALUE("counter", Types.LONG()), "hashmap", path)
    with caplog.at_level(logging.WARNING, "headrace"):
        list(kept.execute_and_collect())
    (line,) = [r.getMessage() for r in caplog.records if "other states" in r.getMessage()]
    assert "uid k" in line
    assert "new, so empty: counter (ValueState)" in line
    assert "saved, but not asked for: count (ValueState)" in line
