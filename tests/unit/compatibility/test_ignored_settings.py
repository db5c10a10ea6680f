"""Every call without effect warns once, and all of them stand in the list that the limits page shows."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from headrace.common import Configuration, Duration
from headrace.compatibility import ignored_settings
from headrace.datastream import (
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    PredefinedOptions,
    SlotSharingGroup,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from headrace.datastream.connectors.file_system import (
    FileCompactStrategy,
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
    "set_predefined_options": lambda env: EmbeddedRocksDBStateBackend().set_predefined_options(
        PredefinedOptions.FLASH_SSD_OPTIMIZED
    ),
    "set_number_of_transfer_threads": lambda env: EmbeddedRocksDBStateBackend().set_number_of_transfer_threads(2),
    "set_split_assigner": lambda env: files().set_split_assigner(
        FileSplitAssignerProvider.locality_aware_split_assigner()
    ),
    "set_num_compact_threads": lambda env: FileCompactStrategy.builder().set_num_compact_threads(2),
    "max_state_size": lambda env: JobManagerCheckpointStorage(max_state_size=1000),
    "file_state_size_threshold": lambda env: FileSystemCheckpointStorage("file:///tmp", file_state_size_threshold=1000),
    "write_buffer_size": lambda env: FileSystemCheckpointStorage("file:///tmp", write_buffer_size=1000),
}


@pytest.mark.parametrize("name", sorted(ignored_settings.WITHOUT_EFFECT))
def test_warns_once(monkeypatch, name):
    monkeypatch.setattr(ignored_settings, "_warned", set())
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(ignored_settings.WithoutEffectWarning, match=f"{name} has no effect") as caught:
        CALLS[name](env)
        CALLS[name](env)
    assert len(caught) == 1


def test_options_warn_once_when_a_job_is_submitted(monkeypatch):
    monkeypatch.setattr(ignored_settings, "_warned", set())
    configuration = Configuration().set_string("headrace.executor", "local").set_string("parallelism.default", "1")
    for key in ("taskmanager.numberOfTaskSlots", "python.fn-execution.bundle.size"):
        configuration.set_string(key, "1")
    configuration.set_string("pipeline.object-reuse", "true")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    with pytest.warns(ignored_settings.WithoutEffectWarning) as caught:
        for _ in range(2):
            list(env.from_collection([1]).execute_and_collect())
    assert sorted(str(w.message).split(" ")[0] for w in caught) == [
        "pipeline.object-reuse",
        "python.fn-execution.bundle.size",
        "taskmanager.numberOfTaskSlots",
    ]


def test_what_a_call_has_said_is_not_said_again(monkeypatch):
    monkeypatch.setattr(ignored_settings, "_warned", set())
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.warns(ignored_settings.WithoutEffectWarning, match="set_buffer_timeout") as caught:
        env.set_buffer_timeout(5)
        ignored_settings.warn_of_options(env.get_configuration().to_dict())
    assert len(caught) == 1


def test_the_limits_page_lists_all():
    page = (Path(__file__).parents[3] / "docs" / "limits.md").read_text(encoding="utf-8")
    for table in (ignored_settings.WITHOUT_EFFECT, ignored_settings.OPTIONS_WITHOUT_EFFECT):
        for name, why in table.items():
            assert f"| `{name}` | {why} |" in page


def test_switching_off_does_not_warn(monkeypatch):
    monkeypatch.setattr(ignored_settings, "_warned", set())
    env = StreamExecutionEnvironment.get_execution_environment()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.get_checkpoint_config().disable_unaligned_checkpoints()
        env.enable_changelog_state_backend(False)
        env.get_config().set_use_snapshot_compression(False)
        ignored_settings.warn_of_options(env.get_configuration().to_dict())
        env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
        env.from_collection([1]).map(str).slot_sharing_group("g")
        FileCompactStrategy.builder().set_num_compact_threads(1)
