"""Calls that are accepted because Flink programs make them, and that change nothing on Spark. Each warns once.

Decides which calls these are and why; the limits page lists `WITHOUT_EFFECT`. Called by the settings themselves.
"""

from __future__ import annotations

import warnings

__all__ = ["WITHOUT_EFFECT", "WithoutEffectWarning", "warn_without_effect"]

WITHOUT_EFFECT = {
    "set_buffer_timeout": "an epoch hands all output on at its end; headrace.epoch.target-ms sets how long epochs take",
    "slot_sharing_group resources": "Spark's own settings size the executors; a group only keeps operators unchained",
    "enable_unaligned_checkpoints": "no element is on its way when an epoch ends, so checkpoints never wait for one",
    "set_force_unaligned_checkpoints": "no element is on its way when an epoch ends, so checkpoints never wait for one",
    "set_aligned_checkpoint_timeout": "no element is on its way when an epoch ends, so checkpoints never wait for one",
    "enable_changelog_state_backend": "the changes of each epoch are such a log already",
    "set_stream_time_characteristic": "each stream decides by its watermark strategy, each window by its assigner",
    "kryo and pojo registrations": "there are no Java objects: Python objects are pickled, typed ones encoded by type",
    "set_options": "an options factory of RocksDB is a Java class; keys of the configuration do the same",
    "set_file_enumerator": "each text file is one split, as lines of text are never cut",
    "set_split_assigner": "Spark decides where subtasks run",
}

_warned: set[str] = set()


class WithoutEffectWarning(UserWarning):
    """A call of the program changes nothing on Spark.

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
    if call not in _warned:
        _warned.add(call)
        warnings.warn(f"{call} has no effect: {WITHOUT_EFFECT[call]}", WithoutEffectWarning, stacklevel=3)
