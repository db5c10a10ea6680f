"""Calls and options that Flink programs contain and that have no effect on Spark. Each causes one warning.

Decides which these are and why; the page docs/limits.md lists `WITHOUT_EFFECT` and `OPTIONS_WITHOUT_EFFECT`. Called by
the settings themselves, and by the environment when it submits a job.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

_NOTHING_UNDER_WAY = "no records are in flight when an epoch ends, so there is nothing to align"
_ONE_FILE = "a subtask writes one file per epoch"
WITHOUT_EFFECT = {
    "set_buffer_timeout": "an epoch passes on all output when it ends; headrace.epoch.target-ms sets the duration of epochs",
    "slot_sharing_group resources": "Spark's own settings size the executors; a group only prevents chaining",
    "enable_unaligned_checkpoints": _NOTHING_UNDER_WAY,
    "set_force_unaligned_checkpoints": _NOTHING_UNDER_WAY,
    "set_aligned_checkpoint_timeout": _NOTHING_UNDER_WAY,
    "enable_changelog_state_backend": "the state files of the epochs already are a changelog",
    "set_stream_time_characteristic": "the watermark strategy of a stream and the assigner of a window decide",
    "kryo and pojo registrations": "there are no Java objects: Python objects are pickled, or encoded by their declared type",
    "set_options": "an options factory of RocksDB is a Java class; set the keys of the configuration instead",
    "set_predefined_options": "state.backend.rocksdb.memory.fixed-per-slot sets the size of caches and buffers",
    "set_number_of_transfer_threads": _ONE_FILE,
    "set_split_assigner": "Spark decides where subtasks run",
    "set_num_compact_threads": "each subtask of the sink compacts its own files",
    "max_state_size": "checkpoints without a directory are files on the driver's machine, not in its memory",
    "file_state_size_threshold": _ONE_FILE,
    "write_buffer_size": _ONE_FILE,
}

_NO_JAVA = "the program has no Java code"
_SPARK = "Spark runs the processes; use its own settings (spark.*)"
_ENDED_TASKS = "checkpoints always include the state of finished tasks"
_BATCHES = "operators call functions and lookups once per batch of rows"
_NO_COSTS = "the planner has rules but no statistics"
_IN_STATE = "operators of batch jobs keep rows in state; state.backend.* decides where it lives"
_NO_PLAN_FILES = "plans are not stored; operators have the same identity as long as the query is the same"
_MINI_BATCH = "a mini batch is what an operator gets at once; it ends with the epoch at the latest"
_LOCAL_COPY = "subtasks keep their state in memory or on local disk; only new ones read files"
OPTIONS_WITHOUT_EFFECT = {
    "akka.": _SPARK,
    "blob.": _SPARK,
    "classloader.": _NO_JAVA,
    "cluster.": _SPARK,
    "env.java.": "use spark.driver.extraJavaOptions and spark.executor.extraJavaOptions",
    "execution.buffer-timeout": WITHOUT_EFFECT["set_buffer_timeout"],
    "execution.checkpointing.checkpoints-after-tasks-finish": _ENDED_TASKS,
    "execution.checkpointing.checkpoints-after-tasks-finish.enabled": _ENDED_TASKS,
    "execution.checkpointing.unaligned": _NOTHING_UNDER_WAY,
    "execution.checkpointing.unaligned.": _NOTHING_UNDER_WAY,
    "execution.checkpointing.aligned-checkpoint-timeout": _NOTHING_UNDER_WAY,
    "execution.checkpointing.alignment-timeout": _NOTHING_UNDER_WAY,
    "execution.checkpointing.during-recovery.enabled": _NOTHING_UNDER_WAY,
    "execution.state-recovery.without-channel-state.checkpoint-id": _NOTHING_UNDER_WAY,
    "execution.checkpointing.cleaner.": "the driver removes files between epochs",
    "execution.checkpointing.data-inline-threshold": _ONE_FILE,
    "execution.checkpointing.write-buffer-size": _ONE_FILE,
    "execution.checkpointing.file-merging.": _ONE_FILE,
    "execution.checkpointing.interval-during-backlog": "no source reports a backlog, so the normal interval applies",
    "execution.checkpointing.local-backup.": _LOCAL_COPY,
    "execution.state-recovery.from-local": _LOCAL_COPY,
    "execution.state-recovery.approximate-local-recovery": "recovery is always exact: the work of a lost process is repeated",
    "execution.checkpointing.snapshot-compression": "state files are not compressed; use a file system that compresses",
    "heartbeat.": _SPARK,
    "high-availability": "a job recovers by its headrace.job.id; for the job service see Operations",
    "io.tmp.dirs": "use headrace.state.directory and the environment variable TMPDIR",
    "jobmanager.": _SPARK,
    "kubernetes.": _SPARK,
    "pekko.": _SPARK,
    "state.backend.incremental": "checkpoints are always incremental",
    "execution.checkpointing.incremental": "checkpoints are always incremental",
    "state.backend.rocksdb.predefined-options": WITHOUT_EFFECT["set_predefined_options"],
    "state.backend.rocksdb.checkpoint.transfer.thread.num": WITHOUT_EFFECT["set_number_of_transfer_threads"],
    "pipeline.auto-type-registration": _NO_JAVA,
    "pipeline.auto-watermark-interval": "watermarks follow every headrace.watermark.interval-records records and the end of "
    "each epoch",
    "pipeline.closure-cleaner-level": _NO_JAVA,
    "pipeline.default-kryo-serializers": _NO_JAVA,
    "pipeline.force-avro": _NO_JAVA,
    "pipeline.force-kryo": _NO_JAVA,
    "pipeline.generic-types": _NO_JAVA,
    "pipeline.object-reuse": "objects are never copied between chained operators",
    "pipeline.registered-kryo-types": _NO_JAVA,
    "pipeline.registered-pojo-types": _NO_JAVA,
    "python.client.executable": "the program itself is the client",
    "python.execution-mode": "functions always run in Python processes next to the data",
    "python.fn-execution.": "functions run in Python processes next to the data, without bundles",
    "python.operator-chaining.": "pipeline.operator-chaining.enabled applies to all operators",
    "resourcemanager.": _SPARK,
    "security.": _SPARK,
    "state.backend.changelog.": WITHOUT_EFFECT["enable_changelog_state_backend"],
    "state.changelog.": WITHOUT_EFFECT["enable_changelog_state_backend"],
    "slotmanager.": _SPARK,
    "table.exec.async-": _BATCHES,
    "table.exec.deduplicate.": "a deduplication always tells inserts from updates",
    "table.exec.delta-join.": _NO_COSTS,
    "table.exec.dynamic-filtering.threshold": _NO_COSTS,
    "table.exec.interval-join.min-cleanup-interval": "an interval join removes its rows with the watermark",
    "table.exec.legacy-transformation-uids": _NO_PLAN_FILES,
    "table.exec.local-hash-agg.": _NO_COSTS,
    "table.exec.mini-batch.allow-latency": _MINI_BATCH,
    "table.exec.mini-batch.size": _MINI_BATCH,
    "table.exec.operator-fusion-codegen.enabled": "chained operators always pass on batches",
    "table.exec.rank.topn-cache-size": _IN_STATE,
    "table.exec.topn-cache-size": _IN_STATE,
    "table.exec.resource.external-buffer-memory": _IN_STATE,
    "table.exec.resource.hash-agg.memory": _IN_STATE,
    "table.exec.resource.hash-join.memory": _IN_STATE,
    "table.exec.resource.sort.memory": _IN_STATE,
    "table.exec.shuffle-mode": "an exchange is the same in both modes",
    "table.exec.simplify-operator-name-enabled": "the names of operators are always short",
    "table.exec.sink.keyed-shuffle": "rows reach a sink by its primary key if their order matters",
    "table.exec.sink.upsert-materialize-strategy.": _IN_STATE,
    "table.exec.sort.async-merge-enabled": _IN_STATE,
    "table.exec.sort.max-num-file-handles": _IN_STATE,
    "table.exec.spill-compression.": _IN_STATE,
    "table.exec.uid.": _NO_PLAN_FILES,
    "table.exec.unbounded-over.version": "there is one implementation",
    "table.exec.window-agg.buffer-size-limit": _IN_STATE,
    "table.generated-code.max-members": "no Java code is generated",
    "table.optimizer.adaptive-broadcast-join.": _NO_COSTS,
    "table.optimizer.bushy-join-reorder-threshold": _NO_COSTS,
    "table.optimizer.delta-join.": _NO_COSTS,
    "table.optimizer.distinct-agg.split.": "distinct values are aggregated once per key",
    "table.optimizer.dynamic-filtering.enabled": _NO_COSTS,
    "table.optimizer.incremental-agg-enabled": _NO_COSTS,
    "table.optimizer.join-reorder-enabled": _NO_COSTS,
    "table.optimizer.join.broadcast-threshold": _NO_COSTS,
    "table.optimizer.multi-join.enabled": "joins run one after the other",
    "table.optimizer.multiple-input-enabled": "joins run one after the other",
    "table.optimizer.ptf.max-tables": "there are no process table functions",
    "table.optimizer.reuse-optimize-block-with-digest-enabled": "table.optimizer.reuse-sub-plan-enabled applies",
    "table.optimizer.reuse-sink-enabled": "table.optimizer.reuse-sub-plan-enabled applies",
    "table.optimizer.reuse-source-enabled": "table.optimizer.reuse-sub-plan-enabled applies",
    "table.optimizer.runtime-filter.": _NO_COSTS,
    "table.optimizer.skewed-join-optimization.": _NO_COSTS,
    "table.optimizer.source.": _NO_COSTS,
    "table.optimizer.sql-to-rel.": "projections are always merged",
    "table.optimizer.sql2rel.": "projections are always merged",
    "table.optimizer.union-all-as-breakpoint-enabled": _NO_COSTS,
    "table.plan.": _NO_PLAN_FILES,
    "table.resources.download-dir": _NO_JAVA,
    "task.cancellation.": "a cancelled job kills its processes after at most ten seconds",
    "taskmanager.": _SPARK,
    "yarn.": _SPARK,
}
"""By key, or by prefix of keys (which ends with a dot or a hyphen)."""

_SAID_BY_CALL = {
    "execution.buffer-timeout": "set_buffer_timeout",
    "execution.checkpointing.unaligned.": "enable_unaligned_checkpoints",
    "execution.checkpointing.aligned-checkpoint-timeout": "set_aligned_checkpoint_timeout",
    "state.changelog.": "enable_changelog_state_backend",
}
_OFF = "false"
_ON_IS_DEFAULT = ("execution.checkpointing.checkpoints-after-tasks-finish", "python.", "table.")
_warned: set[str] = set()


class WithoutEffectWarning(UserWarning):
    """A call or an option of the program changes nothing on Spark.

    >>> issubclass(WithoutEffectWarning, UserWarning)
    True
    """


def warn_without_effect(call: str) -> None:
    """Warn about a call, once per process.

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
    """Warn about the keys of a configuration that have no effect, once per key and process.

    A feature that is switched off needs no warning.

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
            fits = (
                key.startswith(known) if known.endswith((".", "async-", "-timeout", "availability")) else key == known
            )
            if fits and _SAID_BY_CALL.get(known) not in _warned:
                _warn(key, why)


def warn_of_url_parameters(names: list[str]) -> None:
    """Warn about parameters of a JDBC URL that are for Java's driver, once per parameter and process."""
    for name in names:
        _warn(f"{name} of a JDBC URL", "the driver is a Python package")


def _warn(what: str, why: str) -> None:
    if what not in _warned:
        _warned.add(what)
        warnings.warn(f"{what} has no effect: {why}", WithoutEffectWarning, stacklevel=4)
