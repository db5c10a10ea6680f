"""Errors of the checkpoint protocol. Each has a stable code; refusals carry a `CheckpointFailureReason`.

Two errors of a store must never be mixed up: `StoreError` says that nothing was written, `OutcomeUnknownError` says that
nobody knows.
"""

from __future__ import annotations

from headrace.checkpoint.failure_reasons import CheckpointFailureReason
from headrace.errors import HeadraceError, StateError

__all__ = [
    "CheckpointError",
    "CommitRefusedError",
    "DamagedRecordError",
    "FencedError",
    "OutcomeUnknownError",
    "RecordMissingError",
    "RestoreRefusedError",
    "StoreError",
    "UntrustedStateError",
]


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
        """The message is the reason's text unless one is given."""
        super().__init__(message or reason.text, seen=seen, remedy=remedy)
        self.reason = reason


class FencedError(CheckpointError):
    """This driver is a zombie: another one has taken the job over. It must end and touch nothing.

    >>> FencedError(2, 3).reason.name
    'FENCED'
    """

    code = "FENCED"

    def __init__(self, generation: int, newer: int) -> None:
        """`generation` is this driver's, `newer` the one that was seen."""
        super().__init__(
            CheckpointFailureReason.FENCED,
            f"Generation {generation} of the job has been replaced by generation {newer}",
            remedy="this process ends; the newer driver goes on with the job.",
        )


class RestoreRefusedError(CheckpointError):
    """The newest checkpoint cannot be used, and going back by itself could write output twice.

    >>> RestoreRefusedError(CheckpointFailureReason.MANIFEST_DAMAGED).code
    'RESTORE_REFUSED'
    """

    code = "RESTORE_REFUSED"


class StoreError(HeadraceError):
    """The store refused, and nothing was changed: no space, no permission, a failed read.

    >>> StoreError("No space").code
    'CHECKPOINT_STORE'
    """

    code = "CHECKPOINT_STORE"


class OutcomeUnknownError(HeadraceError):
    """A write failed in such a way that it may have happened.

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
    """A record is torn, changed, of another job, or not the one that its name says. It is never used.

    >>> error = DamagedRecordError("slots/0000000001", "it is empty")
    >>> error.name, error.reason
    ('slots/0000000001', 'it is empty')
    """

    code = "DAMAGED_RECORD"

    def __init__(self, name: str, reason: str) -> None:
        """`name` as in the store, `reason` goes on after "cannot be used: "."""
        super().__init__(f"The record {name} cannot be used: {reason}")
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[type[DamagedRecordError], tuple[str, str]]:
        """Pickle by the two arguments."""
        return type(self), (self.name, self.reason)


class CommitRefusedError(HeadraceError):
    """A sink says that it cannot commit a handle: it was aborted, or has expired. Data would be lost; nothing goes on.

    >>> CommitRefusedError("Transaction 7 has expired").code
    'COMMIT_REFUSED'
    """

    code = "COMMIT_REFUSED"


class UntrustedStateError(StateError):
    """A checkpoint or savepoint was not written with this user's key. Nothing of it is used.

    >>> error = UntrustedStateError("The savepoint /backups/s1", "it has no signature")
    >>> error.code, error.message
    ('STATE_UNTRUSTED', 'The savepoint /backups/s1 is not trusted: it has no signature')
    """

    code = "STATE_UNTRUSTED"

    def __init__(self, what: str, problem: str) -> None:
        """`what` names the checkpoint or savepoint, `problem` says what is wrong with its signature."""
        super().__init__(
            f"{what} is not trusted: {problem}",
            expected="the signature of this user: reading state can run code of whoever wrote it",
            remedy="if you know who wrote it, set headrace.state.trust: true for this start (checkpoints of versions"
            " before signatures need this once); to use it on another machine, bring the key along"
            " (HEADRACE_STATE_KEY_FILE).",
        )
        self._arguments = what, problem

    def __reduce__(self) -> tuple[type[UntrustedStateError], tuple[str, str]]:
        """Pickle by the two arguments."""
        return type(self), self._arguments
