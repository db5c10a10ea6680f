"""Reads an epoch's control frames: acknowledgements, driver output in order, failures."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.errors import JobExecutionError, UserCodeError
from headrace.foundation.faultpoints import reach
from headrace.worker.exchange.frames import ACK, DRIVER_OUTPUT, FAILURE, unpack
from headrace.worker.messages import DriverOutput, TaskAck, TaskFailure, TaskId


class EpochLostError(JobExecutionError):
    """An epoch was lost because a process died. It may be retried.

    >>> EpochLostError("A slot died").code
    'EPOCH_LOST'
    """

    code = "EPOCH_LOST"


@dataclass
class EpochResult:
    """Everything that an epoch returned."""

    acks: list[TaskAck] = field(default_factory=list)
    outputs: list[DriverOutput] = field(default_factory=list)
    failures: list[TaskFailure] = field(default_factory=list)

    @property
    def cause(self) -> Exception | None:
        """The failure to report: an error of user code before any other."""
        errors = [f.error for f in self.failures]
        return next((e for e in errors if isinstance(e, UserCodeError)), errors[0] if errors else None)


def read_frames(frames: list[bytes]) -> EpochResult:
    """Sort control frames. The output of one task keeps its order."""
    result = EpochResult()
    outputs: list[tuple[tuple[int, int, int, int], DriverOutput]] = []
    failed: set[tuple[TaskId, int]] = set()
    for frame in frames:
        header, message = unpack(frame)
        if header.kind == ACK:
            result.acks.append(message)
            reach("acks.partial")
        elif header.kind == FAILURE:
            result.failures.append(message)
            failed.add((message.task, header.attempt))
        elif header.kind == DRIVER_OUTPUT:
            outputs.append(((header.level, header.partition, header.attempt, header.sequence), message))
    counted = failed | {(a.task, a.attempt) for a in result.acks}
    outputs.sort(key=lambda o: o[0])
    result.outputs = [o for (level, p, attempt, _), o in outputs if ((level, p), attempt) in counted]
    return result
