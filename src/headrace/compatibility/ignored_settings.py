"""Calls and options that are accepted because Flink programs have them, and that change nothing on Spark. Each warns once.

Decides which these are and why; the limits page lists `WITHOUT_EFFECT` and `OPTIONS_WITHOUT_EFFECT`. Called by the settings
themselves, and by the environment when it submits a job.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

__all__ = [
    "OPTIONS_WITHOUT_EFFECT",
    "WITHOUT_EFFECT",
    "WithoutEffectWarning",
    "warn_of_options",
    "warn_of_url_parameters",
    "warn_without_effect",
]

_NOTHING_UNDER_WAY = "no element is on its way when an epoch ends, so checkpoints never wait for one"
_ONE_FILE = "a subtask writes one file per epoch"
WITHOUT_EFFECT = {
    "set_buffer_timeout": "an epoch hands all output on at its end; headrace.epoch.target-ms sets how long epochs take",
    "slot_sharing_group resources": "Spark's own settings size the executors; a group only keeps operators unchained",
    "enable_unaligned_checkpoints": _NOTHING_UNDER_WAY,
    "set_force_unaligned_checkpoints": _NOTHING_UNDER_WAY,
    "set_aligned_checkpoint_timeout": _NOTHING_UNDER_WAY,
    "enable_changelog_state_backend": "the changes of each epoch are such a log already",
    "set_stream_time_characteristic": "each stream decides by its watermark strategy, each window by its assigner",
    "kryo and pojo registrations": "there are no Java objects: Python objects are pickled, typed ones encoded by type",
    "set_options": "an options factory of RocksDB is a Java class; keys of the configuration do the same",
    "set_predefined_options": "state.backend.rocksdb.memory.fixed-per-slot sizes the caches and buffers",
    "set_number_of_transfer_threads": _ONE_FILE,
    "set_split_assigner": "Spark decides where subtasks run",
    "set_num_compact_threads": "the subtasks of the sink put files together, each its own",
    "max_state_size": "checkpoints without a directory are files of the driver's machine, not in its memory",
    "file_state_size_threshold": _ONE_FILE,
    "write_buffer_size": _ONE_FILE,
}

_NO_JAVA = "there is no Java code of the program"
_SPARK = "Spark runs the processes: its own settings (spark.*) decide"
_ENDED_TASKS = "the state of tasks that have ended is part of checkpoints"
_LOCAL_COPY = "subtasks keep their state from epoch to epoch, files are read only by those that are new"
OPTIONS_WITHOUT_EFFECT = {
    "akka.": _SPARK,
    "blob.": _SPARK,
    "classloader.": _NO_JAVA,
    "cluster.": _SPARK,
    "env.java.": "spark.driver.extraJavaOptions and spark.executor.extraJavaOptions do the same",
    "execution.buffer-timeout": WITHOUT_EFFECT["set_buffer_timeout"],
    "execution.checkpointing.checkpoints-after-tasks-finish": _ENDED_TASKS,
    "execution.checkpointing.checkpoints-after-tasks-finish.enabled": _ENDED_TASKS,
    "execution.checkpointing.unaligned": _NOTHING_UNDER_WAY,
    "execution.checkpointing.unaligned.": _NOTHING_UNDER_WAY,
    "execution.checkpointing.aligned-checkpoint-timeout": _NOTHING_UNDER_WAY,
    "execution.checkpointing.alignment-timeout": _NOTHING_UNDER_WAY,
    "execution.checkpointing.during-recovery.enabled": _NOTHING_UNDER_WAY,
    "execution.state-recovery.without-channel-state.checkpoint-id": _NOTHING_UNDER_WAY,
    "execution.checkpointing.cleaner.": "the driver removes files between two epochs",
    "execution.checkpointing.data-inline-threshold": _ONE_FILE,
    "execution.checkpointing.write-buffer-size": _ONE_FILE,
    "execution.checkpointing.file-merging.": _ONE_FILE,
    "execution.checkpointing.interval-during-backlog": "no source reports a backlog: the interval counts throughout",
    "execution.checkpointing.local-backup.": _LOCAL_COPY,
    "execution.state-recovery.from-local": _LOCAL_COPY,
    "execution.state-recovery.approximate-local-recovery": "what a lost process did is done again, exactly",
    "execution.checkpointing.snapshot-compression": "state files are not compressed; a file system can do that",
    "heartbeat.": _SPARK,
    "high-availability": "of a job: it goes on by its headrace.job.id; the job service has such options, see Operations",
    "io.tmp.dirs": "headrace.state.directory and the environment variable TMPDIR do the same",
    "jobmanager.": _SPARK,
    "kubernetes.": _SPARK,
    "pekko.": _SPARK,
    "state.backend.incremental": "an epoch always files only what changed",
    "execution.checkpointing.incremental": "an epoch always files only what changed",
    "state.backend.rocksdb.predefined-options": WITHOUT_EFFECT["set_predefined_options"],
    "state.backend.rocksdb.checkpoint.transfer.thread.num": WITHOUT_EFFECT["set_number_of_transfer_threads"],
    "pipeline.auto-type-registration": _NO_JAVA,
    "pipeline.auto-watermark-interval": "watermarks come after headrace.watermark.interval-records records, and at the "
    "end of each epoch",
    "pipeline.closure-cleaner-level": _NO_JAVA,
    "pipeline.default-kryo-serializers": _NO_JAVA,
    "pipeline.force-avro": _NO_JAVA,
    "pipeline.force-kryo": _NO_JAVA,
    "pipeline.generic-types": _NO_JAVA,
    "pipeline.object-reuse": "objects are never copied between chained operators",
    "pipeline.registered-kryo-types": _NO_JAVA,
    "pipeline.registered-pojo-types": _NO_JAVA,
    "python.client.executable": "the program itself is the client",
    "python.execution-mode": "functions run in Python processes next to the data",
    "python.fn-execution.": "functions run in Python processes next to the data, there are no bundles",
    "python.operator-chaining.": "pipeline.operator-chaining.enabled decides for all operators",
    "resourcemanager.": _SPARK,
    "security.": _SPARK,
    "slotmanager.": _SPARK,
    "task.cancellation.": "a cancelled job ends its processes after ten seconds at the latest",
    "taskmanager.": _SPARK,
    "yarn.": _SPARK,
}
"""By key, or by the beginning of keys (with a dot at its end)."""

_SAID_BY_CALL = {
    "execution.buffer-timeout": "set_buffer_timeout",
    "execution.checkpointing.unaligned.": "enable_unaligned_checkpoints",
    "execution.checkpointing.aligned-checkpoint-timeout": "set_aligned_checkpoint_timeout",
}
_OFF = "false"
_ON_IS_DEFAULT = ("execution.checkpointing.checkpoints-after-tasks-finish", "python.")
_warned: set[str] = set()


class WithoutEffectWarning(UserWarning):
    """A call or an option of the program changes nothing on Spark.

    >>> issubclass(WithoutEffectWarning, UserWarning)
    True
    """


def warn_without_effect(call: str) -> None:
    """Warn of a call, the first time that it is made in this process.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _warned.discard("set_split_assigner")
    ...     warn_without_effect("set_split_assigner")
    ...     warn_without_effect("set_split_assigner")
    >>> [str(warning.message) for warning in caught]
    ['set_split_assigner has no effect: Spark decides where subtasks run']
    """
    _warn(call, WITHOUT_EFFECT[call])


def warn_of_options(options: Mapping[str, object]) -> None:
    """Warn of the keys of a configuration that change nothing, each the first time in this process.

    What is switched off needs no warning: nothing was to change.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _warned.discard("taskmanager.numberOfTaskSlots")
    ...     warn_of_options({"taskmanager.numberOfTaskSlots": "4", "parallelism.default": "1"})
    >>> [str(warning.message).split(":")[0] for warning in caught]
    ['taskmanager.numberOfTaskSlots has no effect']
    """
    for key, value in options.items():
        if str(value).lower() == _OFF and not key.startswith(_ON_IS_DEFAULT):
            continue
        for known, why in OPTIONS_WITHOUT_EFFECT.items():
            fits = key.startswith(known) if known.endswith((".", "-timeout", "availability")) else key == known
            if fits and _SAID_BY_CALL.get(known) not in _warned:
                _warn(key, why)


def warn_of_url_parameters(names: list[str]) -> None:
    """Warn of parameters of a JDBC URL that are for Java's driver, each the first time in this process."""
    for name in names:
        _warn(f"{name} of a JDBC URL", "the driver is Python's")


def _warn(what: str, why: str) -> None:
    if what not in _warned:
        _warned.add(what)
        warnings.warn(f"{what} has no effect: {why}", WithoutEffectWarning, stacklevel=4)
