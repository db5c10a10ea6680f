"""FileSink and what describes it: names that programs import. The sink itself comes with the connectors.

Decides nothing yet: descriptions can be made and read, `for_row_format` and `for_bulk_format` refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from headrace.common.errors import InvalidProgramError
from headrace.datastream.connectors.base import Sink

__all__ = [
    "BucketAssigner",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileSink",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamingFileSink",
]


@dataclass(frozen=True)
class OutputFileConfig:
    """How part files are named.

    >>> OutputFileConfig.builder().with_part_suffix(".txt").build()
    OutputFileConfig(part_prefix='part', part_suffix='.txt')
    """

    part_prefix: str
    part_suffix: str

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Start a description."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Give what the names begin with."""
        return self.part_prefix

    def get_part_suffix(self) -> str:
        """Give what the names end with."""
        return self.part_suffix

    class OutputFileConfigBuilder:
        """Collects the parts of a name."""

        def __init__(self) -> None:
            """Programs call `OutputFileConfig.builder`."""
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set what the names begin with."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set what the names end with."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Make the description."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class RollingPolicy:
    """When a part file is closed and the next one begun.

    >>> RollingPolicy.default_rolling_policy(part_size=1024)
    DefaultRollingPolicy(part_size=1024, rollover_interval=60000, inactivity_interval=60000)
    """

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 * 1024 * 1024, rollover_interval: int = 60_000, inactivity_interval: int = 60_000
    ) -> DefaultRollingPolicy:
        """Give the policy by size in bytes, and by age and idleness in milliseconds."""
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Give the policy that begins a new file with each checkpoint."""
        return OnCheckpointRollingPolicy()


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """By size, age and idleness."""

    part_size: int
    rollover_interval: int
    inactivity_interval: int


@dataclass(frozen=True)
class OnCheckpointRollingPolicy(RollingPolicy):
    """With each checkpoint."""


@dataclass(frozen=True)
class BucketAssigner:
    """In which directory an element is written.

    >>> BucketAssigner.date_time_bucket_assigner()
    BucketAssigner(format_str='yyyy-MM-dd--HH', timezone_id=None)
    """

    format_str: str | None = None
    timezone_id: str | None = None

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Give the assigner that writes everything into one directory."""
        return BucketAssigner()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Give the assigner that makes a directory for each span of processing time."""
        return BucketAssigner(format_str, timezone_id)


class FileCompactStrategy:
    """When small part files are put together: comes with the connectors."""


class FileCompactor:
    """How small part files are put together: comes with the connectors."""


class FileSink(Sink):
    """Writes files: comes with the connectors.

    >>> FileSink.for_row_format("/tmp/out", None)
    Traceback (most recent call last):
    ...
    headrace.common.errors.InvalidProgramError: FileSink is not available in this version of headrace [INVALID_PROGRAM]
      seen:     /tmp/out
      remedy:   use add_sink() with a SinkFunction, print() or execute_and_collect()
    """

    @staticmethod
    def for_row_format(base_path: str, encoder: Any) -> Any:
        """Refuse: comes with the connectors."""
        _missing("FileSink", base_path)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: Any) -> Any:
        """Refuse: comes with the connectors."""
        _missing("FileSink", base_path)


class StreamingFileSink:
    """The old name of FileSink: comes with the connectors."""

    @staticmethod
    def for_row_format(base_path: str, encoder: Any) -> Any:
        """Refuse: comes with the connectors."""
        _missing("StreamingFileSink", base_path)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: Any) -> Any:
        """Refuse: comes with the connectors."""
        _missing("StreamingFileSink", base_path)


def _missing(what: str, path: str) -> NoReturn:
    raise InvalidProgramError(
        f"{what} is not available in this version of headrace",
        seen=path,
        remedy="use add_sink() with a SinkFunction, print() or execute_and_collect()",
    )
