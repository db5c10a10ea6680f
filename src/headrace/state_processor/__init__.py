"""Read, change and make savepoints, and compare one with a program before it is started on it.

`SavepointReader` reads the state of a savepoint, in Python or as a Spark DataFrame; `SavepointWriter` writes a changed copy, or a
savepoint from nothing; `savepoint_diff` says what a program would do with one.
"""

from headrace.state_processor.diff import ChangedKind, ChangedMaxParallelism, ChangedType, SavepointDiff, savepoint_diff
from headrace.state_processor.reader import SavepointReader
from headrace.state_processor.records import OperatorInfo, Timer
from headrace.state_processor.writer import SavepointWriter

__all__ = [
    "ChangedKind",
    "ChangedMaxParallelism",
    "ChangedType",
    "OperatorInfo",
    "SavepointDiff",
    "SavepointReader",
    "SavepointWriter",
    "Timer",
    "savepoint_diff",
]
