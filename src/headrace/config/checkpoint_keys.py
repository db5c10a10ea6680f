"""Keys of checkpoints, savepoints and state backends, with Flink's names and defaults; older names as fallback.

Decides keys, types and defaults. `checkpoint_settings` and `runtime_settings` read them.
"""

from __future__ import annotations

from headrace.config.config_options import ConfigOptions
from headrace.types.time import Duration

_key = ConfigOptions.OptionBuilder

STATE_BACKEND = _key("state.backend.type", "state.backend").string_type().no_default_value()
CHANGELOG = _key("state.changelog.enabled", "state.backend.changelog.enabled").boolean_type().no_default_value()

ROCKSDB_DIRECTORIES = _key("state.backend.rocksdb.localdir").string_type().no_default_value()
ROCKSDB_MEMORY = _key("state.backend.rocksdb.memory.fixed-per-slot").memory_type().no_default_value()


def _checkpointing(name: str, *fallback_keys: str) -> ConfigOptions.OptionBuilder:
    return _key(f"execution.checkpointing.{name}", *fallback_keys)


CHECKPOINT_INTERVAL = _checkpointing("interval").duration_type().no_default_value()
CHECKPOINT_MODE = _checkpointing("mode").enum_type("EXACTLY_ONCE", "AT_LEAST_ONCE").default_value("EXACTLY_ONCE")
CHECKPOINT_TIMEOUT = _checkpointing("timeout").duration_type().default_value(Duration.of_minutes(10))
CHECKPOINT_MIN_PAUSE = _checkpointing("min-pause").duration_type().default_value(Duration.of_millis(0))
CHECKPOINT_MAX_CONCURRENT = _checkpointing("max-concurrent-checkpoints").int_type().default_value(1)
CHECKPOINT_TOLERABLE_FAILURES = _checkpointing("tolerable-failed-checkpoints").int_type().default_value(0)
CHECKPOINT_PREFERRED = _checkpointing("prefer-checkpoint-for-recovery").boolean_type().default_value(False)
CHECKPOINT_RETENTION = (
    _checkpointing("externalized-checkpoint-retention")
    .enum_type("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS")
    .default_value("NO_EXTERNALIZED_CHECKPOINTS")
)
CHECKPOINT_UNALIGNED = (
    _checkpointing("unaligned.enabled", "execution.checkpointing.unaligned").boolean_type().default_value(False)
)
CHECKPOINT_FORCE_UNALIGNED = _checkpointing("unaligned.forced").boolean_type().default_value(False)
CHECKPOINT_ALIGNED_TIMEOUT = (
    _checkpointing("aligned-checkpoint-timeout", "execution.checkpointing.alignment-timeout")
    .duration_type()
    .default_value(Duration.of_millis(0))
)
CHECKPOINT_STORAGE = (
    _checkpointing("storage", "state.checkpoint-storage").enum_type("jobmanager", "filesystem").no_default_value()
)
CHECKPOINT_DIRECTORY = (
    _checkpointing("dir", "state.checkpoints.dir", "state.backend.fs.checkpointdir").string_type().no_default_value()
)
CHECKPOINT_SUBFOLDER = (
    _checkpointing("create-subdir", "state.checkpoints.create-subdir").boolean_type().default_value(True)
)
SAVEPOINT_DIRECTORY = _checkpointing("savepoint-dir", "state.savepoints.dir").string_type().no_default_value()

RETAINED_CHECKPOINTS = _checkpointing("num-retained", "state.checkpoints.num-retained").int_type().default_value(1)
RESTORE_PATH = _key("execution.state-recovery.path", "execution.savepoint.path").string_type().no_default_value()
RESTORE_IGNORE_UNCLAIMED = (
    _key("execution.state-recovery.ignore-unclaimed-state", "execution.savepoint.ignore-unclaimed-state")
    .boolean_type()
    .default_value(False)
)
RESTORE_CLAIM_MODE = (
    _key("execution.state-recovery.claim-mode", "execution.savepoint-restore-mode")
    .enum_type("NO_CLAIM", "CLAIM", "LEGACY")
    .default_value("NO_CLAIM")
)
