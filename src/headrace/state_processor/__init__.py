"""Read, change and create savepoints, and check whether a program can start from one.

`SavepointReader` reads the state of a savepoint, in Python or as a Spark DataFrame. `SavepointWriter` writes a changed copy or
a new savepoint. `savepoint_diff` shows what a program would do with one.
"""

from headrace.state_processor.diff import ChangedKind, ChangedMaxParallelism, ChangedType, SavepointDiff, savepoint_diff
from headrace.state_processor.reader import OperatorInfo, SavepointReader, Timer
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
