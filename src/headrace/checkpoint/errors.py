"""Errors of the checkpoint protocol, each with a stable code, and the reasons why a checkpoint or a recovery failed.

Never confuse two errors of a store: `StoreError` means that nothing was written, `OutcomeUnknownError` that nobody knows.
"""

from __future__ import annotations

from enum import Enum

from headrace.errors import HeadraceError, StateError


class CheckpointFailureReason(Enum):
    """A reason: its text, whether the checkpoint never began, whether it counts against the tolerable failures.

    >>> reason = CheckpointFailureReason.CHECKPOINT_EXPIRED
    >>> reason.text, reason.pre_flight, reason.counts
    ('The checkpoint did not complete within its timeout.', False, True)
    """

    def __init__(self, text: str, pre_flight: bool, counts: bool) -> None:
        """Members are (text, never began, counts as a failure)."""
        self.text = text
        self.pre_flight = pre_flight
        self.counts = counts

    # Before a checkpoint begins.
    PERIODIC_SCHEDULER_SHUTDOWN = ("Periodic checkpoints have been switched off.", True, False)
    TOO_MANY_CHECKPOINT_REQUESTS = ("The maximum number of concurrent checkpoints is in progress.", True, False)
    MINIMUM_TIME_BETWEEN_CHECKPOINTS = ("The pause after the last checkpoint is not over.", True, False)
    NOT_ALL_REQUIRED_TASKS_RUNNING = ("Not all tasks that take part are running.", True, False)
    TRIGGER_CHECKPOINT_FAILURE = ("The checkpoint could not be started.", True, False)
    # While it is in progress.
    IO_EXCEPTION = ("The checkpoint storage could not be read or written.", False, True)
    CHECKPOINT_ASYNC_EXCEPTION = ("A task could not write its state.", False, True)
    CHECKPOINT_DECLINED = ("A task did not acknowledge the checkpoint.", False, True)
    CHECKPOINT_EXPIRED = ("The checkpoint did not complete within its timeout.", False, True)
    FINALIZE_CHECKPOINT_FAILURE = ("The manifest could not be written.", False, True)
    CHECKPOINT_SUBSUMED = ("A later checkpoint completed first.", False, False)
    CHECKPOINT_COORDINATOR_SHUTDOWN = ("The job ended.", False, False)
    CHECKPOINT_COORDINATOR_SUSPEND = ("The job is being restarted.", False, False)
    JOB_FAILOVER_REGION = ("A part of the job is being restarted.", False, False)
    TASK_FAILURE = ("A task failed.", False, False)
    # Of this protocol.
    FENCED = ("Another driver has claimed a later generation of this job.", False, False)
    OUTCOME_UNKNOWN = ("It is not known whether a record was written.", False, True)
    COMMIT_FAILED = ("A sink did not commit what it had prepared.", False, False)
    MANIFEST_DAMAGED = ("The manifest cannot be read and may have been committed.", False, False)
    STATE_FILE_DAMAGED = ("A file that the manifest lists is missing or damaged.", False, False)


class CheckpointError(HeadraceError):
    """A checkpoint or a recovery failed for a named reason.

    >>> error = CheckpointError(CheckpointFailureReason.CHECKPOINT_EXPIRED)
    >>> str(error)
    'The checkpoint did not complete within its timeout. [CHECKPOINT]'
    """

    code = "CHECKPOINT"

    def __init__(
        self,
        reason: CheckpointFailureReason,
        message: str | None = None,
        *,
        seen: object = None,
        remedy: str | None = None,
    ) -> None:
        """Use the reason's text unless there is a message."""
        super().__init__(message or reason.text, seen=seen, remedy=remedy)
        self.reason = reason


class FencedError(CheckpointError):
    """This driver is a zombie: another one has taken the job over. It must end and change nothing.

    >>> FencedError(2, 3).reason.name
    'FENCED'
    """

    code = "FENCED"

    def __init__(self, generation: int, newer: int) -> None:
        """`generation` is that of this driver, `newer` the one that was found."""
        super().__init__(
            CheckpointFailureReason.FENCED,
            f"Generation {generation} of the job has been replaced by generation {newer}",
            remedy="this process ends; the newer driver continues the job.",
        )


class RestoreRefusedError(CheckpointError):
    """The newest checkpoint cannot be used, and going back automatically could write output twice.

    >>> RestoreRefusedError(CheckpointFailureReason.MANIFEST_DAMAGED).code
    'RESTORE_REFUSED'
    """

    code = "RESTORE_REFUSED"


class StoreError(HeadraceError):
    """The store failed and nothing was changed: no space, no permission, a failed read.

    >>> StoreError("No space").code
    'CHECKPOINT_STORE'
    """

    code = "CHECKPOINT_STORE"


class OutcomeUnknownError(HeadraceError):
    """A write failed, but may have happened.

    >>> issubclass(OutcomeUnknownError, StoreError)
    False
    """

    code = "CHECKPOINT_OUTCOME_UNKNOWN"


class RecordMissingError(HeadraceError):
    """There is no record of this name.

    >>> RecordMissingError("slots/0000000001").code
    'RECORD_MISSING'
    """

    code = "RECORD_MISSING"


class DamagedRecordError(HeadraceError):
    """A record is torn, modified, of another job, or does not match its name. It is never used.

    >>> error = DamagedRecordError("slots/0000000001", "it is empty")
    >>> error.name, error.reason
    ('slots/0000000001', 'it is empty')
    """

    code = "DAMAGED_RECORD"

    def __init__(self, name: str, reason: str) -> None:
        """`name` as in the store; `reason` completes the sentence "cannot be used: ..."."""
        super().__init__(f"The record {name} cannot be used: {reason}")
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[type[DamagedRecordError], tuple[str, str]]:
        return type(self), (self.name, self.reason)


class CommitRefusedError(HeadraceError):
    """A sink cannot commit a handle, because it was aborted or has expired. The job stops, as data would be lost.

    >>> CommitRefusedError("Transaction 7 has expired").code
    'COMMIT_REFUSED'
    """

    code = "COMMIT_REFUSED"


class UntrustedStateError(StateError):
    """A checkpoint or savepoint was not written with this user's key. No part of it is used.

    >>> error = UntrustedStateError("The savepoint /backups/s1", "it has no signature")
    >>> error.code, error.message
    ('STATE_UNTRUSTED', 'The savepoint /backups/s1 is not trusted: it has no signature')
    """

    code = "STATE_UNTRUSTED"

    def __init__(self, what: str, problem: str) -> None:
        """`what` names the checkpoint or savepoint, `problem` describes its signature."""
        super().__init__(
            f"{what} is not trusted: {problem}",
            expected="the signature of this user: reading state can run code that its writer chose",
            remedy="if you know who wrote it, set headrace.state.trust: true for this start (checkpoints of versions"
            " before signatures need this once); to use it on another machine, copy the key there"
            " (HEADRACE_STATE_KEY_FILE).",
        )
        self._arguments = what, problem

    def __reduce__(self) -> tuple[type[UntrustedStateError], tuple[str, str]]:
        return type(self), self._arguments
