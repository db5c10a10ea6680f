"""CheckpointConfig, checkpoint storages, state backends, restart strategies, slot sharing groups: values and checks."""

from __future__ import annotations

import pytest

from headrace.common import Configuration, Duration, RestartStrategies
from headrace.common.errors import (
    ConfigurationError,
    HeadraceError,
    InvalidProgramError,
    NoJvmError,
    TypeMismatchError,
)
from headrace.datastream import (
    CheckpointConfig,
    CheckpointingMode,
    EmbeddedRocksDBStateBackend,
    ExternalizedCheckpointCleanup,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    FsStateBackend,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemorySize,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    SlotSharingGroup,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)

pytestmark = pytest.mark.filterwarnings("ignore::headrace.compatibility.ignored_settings.WithoutEffectWarning")


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def config(env) -> CheckpointConfig:
    return env.get_checkpoint_config()


def test_defaults_are_those_of_flink(env, config):
    assert not config.is_checkpointing_enabled() and config.get_checkpoint_interval() == -1
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert config.get_checkpoint_timeout() == CheckpointConfig.DEFAULT_TIMEOUT == 600_000
    assert config.get_min_pause_between_checkpoints() == CheckpointConfig.DEFAULT_MIN_PAUSE_BETWEEN_CHECKPOINTS == 0
    assert config.get_max_concurrent_checkpoints() == CheckpointConfig.DEFAULT_MAX_CONCURRENT_CHECKPOINTS == 1
    assert config.is_fail_on_checkpointing_errors() and config.get_tolerable_checkpoint_failure_number() == 0
    assert not config.is_externalized_checkpoints_enabled()
    assert config.get_externalized_checkpoint_cleanup() is None
    assert not config.is_unaligned_checkpoints_enabled() and not config.is_force_unaligned_checkpoints()
    assert config.get_alignment_timeout() == Duration.of_millis(0)
    assert config.get_checkpoint_storage() is None
    assert env.is_changelog_state_backend_enabled() is None and env.get_default_savepoint_directory() is None
    assert env.get_state_backend() is None
    assert env.get_stream_time_characteristic() is TimeCharacteristic.EventTime


def test_values_are_kept_under_flinks_keys(env, config):
    env.enable_checkpointing(5000, CheckpointingMode.AT_LEAST_ONCE)
    config.set_checkpoint_timeout(60_000).set_min_pause_between_checkpoints(100).set_max_concurrent_checkpoints(2)
    config.set_tolerable_checkpoint_failure_number(3).enable_unaligned_checkpoints().set_force_unaligned_checkpoints()
    config.set_alignment_timeout(Duration.of_seconds(2))
    config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
    config.set_checkpoint_storage_dir("file:///var/checkpoints")
    values = env.get_configuration()
    prefix = "execution.checkpointing."
    assert env.get_checkpointing_mode() is env.get_checkpointing_consistency_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert (env.get_checkpoint_interval(), env.is_unaligned_checkpoints_enabled()) == (5000, True)
    assert env.is_force_unaligned_checkpoints()
    assert values.get_string(prefix + "mode", "") == "AT_LEAST_ONCE"
    assert values.get_string(prefix + "dir", "") == "file:/var/checkpoints"
    assert values.get_string(prefix + "storage", "") == "filesystem"
    assert values.get_string(prefix + "externalized-checkpoint-retention", "") == "RETAIN_ON_CANCELLATION"
    assert config.get_externalized_checkpoint_cleanup() is ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION
    assert config.get_aligned_checkpoint_timeout() == Duration.of_seconds(2)
    assert not config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()


def test_a_configuration_says_the_same(env, config):
    env.configure(
        Configuration.from_dict(
            {
                "execution.checkpointing.interval": "3 min",
                "execution.checkpointing.unaligned": "true",
                "state.savepoints.dir": "file:///sp",
            }
        )
    )
    assert config.get_checkpoint_interval() == 180_000
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
    assert config.is_unaligned_checkpoints_enabled()
    assert env.get_default_savepoint_directory() == "file:///sp"


@pytest.mark.parametrize(
    ("call", "argument", "message"),
    [
        ("set_checkpoint_interval", 9, "interval must be larger than or equal to 10 ms"),
        ("set_checkpoint_timeout", 9, "timeout must be larger than or equal to 10 ms"),
        ("set_min_pause_between_checkpoints", -1, "zero or positive"),
        ("set_max_concurrent_checkpoints", 0, "at least one"),
        ("set_tolerable_checkpoint_failure_number", -1, "non-negative"),
        ("set_checkpointing_mode", "EXACTLY_ONCE", "CheckpointingMode"),
        ("set_externalized_checkpoint_retention", "RETAIN", "ExternalizedCheckpointRetention"),
        ("set_externalized_checkpoint_cleanup", "RETAIN", "ExternalizedCheckpointCleanup"),
        ("set_checkpoint_storage", "file:///a", "CheckpointStorage"),
        ("set_checkpoint_storage_dir", "relative", "scheme"),
        ("set_checkpoint_storage_dir", "file:///", "root directory"),
    ],
)
def test_bad_values_are_refused(config, call, argument, message):
    with pytest.raises(HeadraceError, match=message):
        getattr(config, call)(argument)


def test_preferring_checkpoints(config):
    assert not config.is_prefer_checkpoint_for_recovery()
    assert config.set_prefer_checkpoint_for_recovery(True).is_prefer_checkpoint_for_recovery()


def test_old_names(config):
    config.set_fail_on_checkpointing_errors(False)
    assert config.get_tolerable_checkpoint_failure_number() == 2**31 - 1
    config.enable_externalized_checkpoints(ExternalizedCheckpointCleanup.DELETE_ON_CANCELLATION)
    assert config.get_externalized_checkpoint_retention() is ExternalizedCheckpointRetention.DELETE_ON_CANCELLATION


def test_storages():
    memory = JobManagerCheckpointStorage("file:///tmp/x", 100)
    assert (memory.get_checkpoint_path(), memory.get_max_state_size(), memory.get_savepoint_path()) == (
        "file:/tmp/x",
        100,
        None,
    )
    files = FileSystemCheckpointStorage("file://host/var/checkpoints/", 1000, 5)
    assert files.get_checkpoint_path() == "file://host/var/checkpoints"
    assert (files.get_min_file_size_threshold(), files.get_write_buffer_size()) == (1000, 5)
    assert FileSystemCheckpointStorage("file:///a").get_min_file_size_threshold() == 20480
    for arguments in ((None,), ("file:///a", -2), ("file:///a", 2_000_000)):
        with pytest.raises(InvalidProgramError):
            FileSystemCheckpointStorage(*arguments)
    with pytest.raises(NoJvmError):
        JobManagerCheckpointStorage(j_jobmanager_checkpoint_storage=object())


def test_backends(env):
    disk = EmbeddedRocksDBStateBackend()
    assert not disk.is_incremental_checkpoints_enabled() and "UNDEFINED" in str(disk)
    disk.set_db_storage_paths("/tmp/a", "file:///tmp/b")
    disk.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    disk.set_number_of_transfer_threads(2)
    assert disk.get_db_storage_paths() == ["/tmp/a", "/tmp/b"]
    assert disk.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    assert disk.get_options() is None
    for call in (
        lambda: disk.set_db_storage_paths("a"),
        lambda: disk.set_number_of_transfer_threads(0),
        lambda: disk.set_predefined_options(3),
        lambda: EmbeddedRocksDBStateBackend("yes"),
        lambda: HashMapStateBackend(object()),
    ):
        with pytest.raises(HeadraceError):
            call()
    env.set_state_backend(disk)
    assert env.get_state_backend() is disk
    assert env.get_configuration().get_string("state.backend.type", "") == "rocksdb"
    with pytest.raises(TypeMismatchError):
        env.set_state_backend("rocksdb")


def test_old_backends_bring_their_storage(env):
    env.set_state_backend(MemoryStateBackend(max_state_size=10))
    storage = env.get_checkpoint_config().get_checkpoint_storage()
    assert isinstance(storage, JobManagerCheckpointStorage) and storage.get_max_state_size() == 10
    env.set_state_backend(FsStateBackend("file:///var/fs"))
    assert env.get_configuration().get_string("execution.checkpointing.dir", "") == "file:/var/fs"
    rocks = RocksDBStateBackend("file:///var/rocks", True)
    env.set_state_backend(rocks)
    assert env.get_configuration().get_string("state.backend.type", "") == "rocksdb"
    assert isinstance(rocks.get_checkpoint_backend(), FsStateBackend)
    assert rocks.get_number_of_transfering_threads() == 4
    for make in (FsStateBackend, RocksDBStateBackend):
        with pytest.raises(InvalidProgramError, match="required"):
            make()


def test_restart_strategy_and_other_old_settings(env):
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(3, 1000))
    assert env.get_restart_strategy().get_restart_attempts() == 3
    env.set_stream_time_characteristic(TimeCharacteristic.ProcessingTime)
    assert env.get_stream_time_characteristic() is TimeCharacteristic.ProcessingTime
    with pytest.raises(TypeMismatchError):
        env.set_stream_time_characteristic("EventTime")
    assert env.enable_changelog_state_backend(True).is_changelog_state_backend_enabled()
    assert env.set_default_savepoint_directory("file:///sp").get_default_savepoint_directory() == "file:/sp"


def test_kryo_registrations_are_kept(env):
    env.add_default_kryo_serializer("a.B", "c.D")
    env.register_type_with_kryo_serializer("e.F", "g.H")
    env.register_type("i.J")
    config = env.get_config()
    assert config.get_default_kryo_serializer_classes() == {"a.B": "c.D"}
    assert config.get_registered_types_with_kryo_serializer_classes() == {"e.F": "g.H"}
    assert config.get_registered_pojo_types() == ["i.J"]


def test_old_settings_by_configuration(env):
    assert env.get_state_backend() is None and env.is_changelog_state_backend_enabled() is None
    configuration = Configuration()
    configuration.set_string("pipeline.operator-chaining", "false")
    configuration.set_string("pipeline.time-characteristic", "IngestionTime")
    configuration.set_string("execution.buffer-timeout", "1 min")
    configuration.set_string("execution.checkpointing.timeout", "12000")
    configuration.set_string("state.backend", "jobmanager")
    env.configure(configuration)
    assert not env.is_chaining_enabled()
    assert env.get_stream_time_characteristic() is TimeCharacteristic.IngestionTime
    assert env.get_buffer_timeout() == 60000
    assert env.get_checkpoint_config().get_checkpoint_timeout() == 12000
    assert isinstance(env.get_state_backend(), MemoryStateBackend)


@pytest.mark.parametrize(
    ("name", "backend"),
    [("hashmap", HashMapStateBackend), ("rocksdb", EmbeddedRocksDBStateBackend), ("filesystem", FsStateBackend)],
)
def test_backends_by_configuration(env, name, backend):
    env.configure(
        Configuration().set_string("state.backend.type", name).set_string("state.checkpoints.dir", "file:///cp")
    )
    assert type(env.get_state_backend()) is backend
    mine = backend("file:///mine") if backend is FsStateBackend else backend()
    assert env.set_state_backend(mine).get_state_backend() is mine


def test_names_that_mean_nothing_are_refused(env):
    env.configure(
        Configuration().set_string("state.backend", "floppy").set_string("pipeline.time-characteristic", "Mean")
    )
    with pytest.raises(ConfigurationError, match="is not a known state backend"):
        env.get_state_backend()
    with pytest.raises(ConfigurationError, match="is not a known time characteristic"):
        env.get_stream_time_characteristic()


def test_memory_sizes():
    size = MemorySize(bytes_size=3 << 30)
    assert (size.get_tebi_bytes(), size.get_gibi_bytes(), size.get_mebi_bytes(), size.get_kibi_bytes()) == (
        0,
        3,
        3072,
        3 << 20,
    )
    assert [str(MemorySize(bytes_size=n)) for n in (0, 1000, 3072, 5 << 30)] == [
        "0 bytes",
        "1000 bytes",
        "3 kb",
        "5 gb",
    ]
    assert MemorySize.of_mebi_bytes(1) == MemorySize(bytes_size=1 << 20) <= MemorySize(bytes_size=1 << 21)
    assert len({MemorySize(bytes_size=1), MemorySize(bytes_size=1)}) == 1
    for call in (
        lambda: MemorySize(bytes_size=-1),
        lambda: MemorySize(),
        lambda: MemorySize(object()),
        lambda: MemorySize(bytes_size=1) < 2,
        lambda: size.get_java_memory_size(),
    ):
        with pytest.raises(HeadraceError):
            call()


def test_slot_sharing_group_resources():
    builder = SlotSharingGroup.builder("g").set_cpu_cores(1).set_task_heap_memory(MemorySize.of_mebi_bytes(10))
    group = builder.set_managed_memory_mb(5).set_task_off_heap_memory_mb(6).set_external_resource("gpu", 1.0).build()
    assert (group.get_cpu_cores(), group.get_external_resources()) == (1.0, {"gpu": 1.0})
    assert group.get_managed_memory() == MemorySize.of_mebi_bytes(5)
    assert group.get_task_off_heap_memory() == MemorySize.of_mebi_bytes(6)
    plain = SlotSharingGroup.builder("g").build()
    assert plain.get_managed_memory() is plain.get_task_heap_memory() is plain.get_cpu_cores() is None
    assert plain == SlotSharingGroup.builder("g").build() != group and hash(plain) != hash(group)
    for call in (
        lambda: SlotSharingGroup.builder(""),
        lambda: SlotSharingGroup.builder("g").set_cpu_cores(0),
        lambda: SlotSharingGroup.builder("g").set_cpu_cores(1).build(),
        lambda: SlotSharingGroup.builder("g").set_task_heap_memory_mb(0),
        lambda: group.get_java_slot_sharing_group(),
    ):
        with pytest.raises(HeadraceError):
            call()
