"""Every call without effect warns once, and all of them stand in the list that the limits page shows."""

from __future__ import annotations

import warnings

import pytest

from headrace.common import Duration
from headrace.datastream import (
    EmbeddedRocksDBStateBackend,
    SlotSharingGroup,
    StreamExecutionEnvironment,
    TimeCharacteristic,
    without_effect,
)
from headrace.datastream.connectors.file_system import (
    FileEnumeratorProvider,
    FileSource,
    FileSplitAssignerProvider,
    StreamFormat,
)

GROUP = SlotSharingGroup.builder("g").set_cpu_cores(1).set_task_heap_memory_mb(1).build()


def files():
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/tmp")


CALLS = {
    "set_buffer_timeout": lambda env: env.from_collection([1]).map(str).set_buffer_timeout(1),
    "slot_sharing_group resources": lambda env: env.from_collection([1]).map(str).slot_sharing_group(GROUP),
    "enable_unaligned_checkpoints": lambda env: env.get_checkpoint_config().enable_unaligned_checkpoints(),
    "set_force_unaligned_checkpoints": lambda env: env.get_checkpoint_config().set_force_unaligned_checkpoints(),
    "set_aligned_checkpoint_timeout": lambda env: env.get_checkpoint_config().set_alignment_timeout(
        Duration.of_millis(1)
    ),
    "enable_changelog_state_backend": lambda env: env.enable_changelog_state_backend(True),
    "set_stream_time_characteristic": lambda env: env.set_stream_time_characteristic(TimeCharacteristic.ProcessingTime),
    "kryo and pojo registrations": lambda env: env.register_type("a.B"),
    "set_options": lambda env: EmbeddedRocksDBStateBackend().set_options("a.B"),
    "set_file_enumerator": lambda env: files().set_file_enumerator(
        FileEnumeratorProvider.default_splittable_file_enumerator()
    ),
    "set_split_assigner": lambda env: files().set_split_assigner(
        FileSplitAssignerProvider.locality_aware_split_assigner()
    ),
}


@pytest.mark.parametrize("name", sorted(without_effect.WITHOUT_EFFECT))
def test_warns_once(monkeypatch, name):
    monkeypatch.setattr(without_effect, "_warned", set())
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(without_effect.WithoutEffectWarning, match=f"{name} has no effect") as caught:
        CALLS[name](env)
        CALLS[name](env)
    assert len(caught) == 1


def test_switching_off_does_not_warn(monkeypatch):
    monkeypatch.setattr(without_effect, "_warned", set())
    env = StreamExecutionEnvironment.get_execution_environment()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.get_checkpoint_config().disable_unaligned_checkpoints()
        env.enable_changelog_state_backend(False)
        env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
        env.from_collection([1]).map(str).slot_sharing_group("g")
