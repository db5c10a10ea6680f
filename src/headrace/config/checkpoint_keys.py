"""Keys of checkpoints, savepoints and state backends, with Flink's names and defaults; older names as fallback.

Decides keys, types and defaults. `checkpoint_settings` and `runtime_settings` read them.
"""

from __future__ import annotations

from headrace.config.config_options import ConfigOptions
from headrace.types.time import Duration

_key = ConfigOptions.key

STATE_BACKEND = _key("state.backend.type").string_type().no_default_value().with_fallback_keys("state.backend")
CHANGELOG = (
    _key("state.changelog.enabled")
    .boolean_type()
    .no_default_value()
    .with_fallback_keys("state.backend.changelog.enabled")
)

ROCKSDB_DIRECTORIES = _key("state.backend.rocksdb.localdir").string_type().no_default_value()
ROCKSDB_MEMORY = _key("state.backend.rocksdb.memory.fixed-per-slot").memory_type().no_default_value()

_CHECKPOINTING = "execution.checkpointing."
CHECKPOINT_INTERVAL = _key(_CHECKPOINTING + "interval").duration_type().no_default_value()
CHECKPOINT_MODE = _key(_CHECKPOINTING + "mode").enum_type("EXACTLY_ONCE", "AT_LEAST_ONCE").default_value("EXACTLY_ONCE")
CHECKPOINT_TIMEOUT = _key(_CHECKPOINTING + "timeout").duration_type().default_value(Duration.of_minutes(10))
CHECKPOINT_MIN_PAUSE = _key(_CHECKPOINTING + "min-pause").duration_type().default_value(Duration.of_millis(0))
CHECKPOINT_MAX_CONCURRENT = _key(_CHECKPOINTING + "max-concurrent-checkpoints").int_type().default_value(1)
CHECKPOINT_TOLERABLE_FAILURES = _key(_CHECKPOINTING + "tolerable-failed-checkpoints").int_type().default_value(0)
CHECKPOINT_PREFERRED = _key(_CHECKPOINTING + "prefer-checkpoint-for-recovery").boolean_type().default_value(False)
CHECKPOINT_RETENTION = (
    _key(_CHECKPOINTING + "externalized-checkpoint-retention")
    .enum_type("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS")
    .default_value("NO_EXTERNALIZED_CHECKPOINTS")
)
CHECKPOINT_UNALIGNED = (
    _key(_CHECKPOINTING + "unaligned.enabled")
    .boolean_type()
    .default_value(False)
    .with_fallback_keys(_CHECKPOINTING + "unaligned")
)
CHECKPOINT_FORCE_UNALIGNED = _key(_CHECKPOINTING + "unaligned.forced").boolean_type().default_value(False)
CHECKPOINT_ALIGNED_TIMEOUT = (
    _key(_CHECKPOINTING + "aligned-checkpoint-timeout")
    .duration_type()
    .default_value(Duration.of_millis(0))
    .with_fallback_keys(_CHECKPOINTING + "alignment-timeout")
)
CHECKPOINT_STORAGE = (
    _key(_CHECKPOINTING + "storage")
    .enum_type("jobmanager", "filesystem")
    .no_default_value()
    .with_fallback_keys("state.checkpoint-storage")
)
CHECKPOINT_DIRECTORY = (
    _key(_CHECKPOINTING + "dir")
    .string_type()
    .no_default_value()
    .with_fallback_keys("state.checkpoints.dir", "state.backend.fs.checkpointdir")
)
CHECKPOINT_SUBFOLDER = (
    _key(_CHECKPOINTING + "create-subdir")
    .boolean_type()
    .default_value(True)
    .with_fallback_keys("state.checkpoints.create-subdir")
)
SAVEPOINT_DIRECTORY = (
    _key(_CHECKPOINTING + "savepoint-dir").string_type().no_default_value().with_fallback_keys("state.savepoints.dir")
)

RETAINED_CHECKPOINTS = (
    _key(_CHECKPOINTING + "num-retained")
    .int_type()
    .default_value(1)
    .with_fallback_keys("state.checkpoints.num-retained")
)
RESTORE_PATH = (
    _key("execution.state-recovery.path")
    .string_type()
    .no_default_value()
    .with_fallback_keys("execution.savepoint.path")
)
RESTORE_IGNORE_UNCLAIMED = (
    _key("execution.state-recovery.ignore-unclaimed-state")
    .boolean_type()
    .default_value(False)
    .with_fallback_keys("execution.savepoint.ignore-unclaimed-state")
)
RESTORE_CLAIM_MODE = (
    _key("execution.state-recovery.claim-mode")
    .enum_type("NO_CLAIM", "CLAIM", "LEGACY")
    .default_value("NO_CLAIM")
    .with_fallback_keys("execution.savepoint-restore-mode")
)
