"""Why a checkpoint, a recovery or a request for a checkpoint failed: one enum, each reason with its text.

Decides only names, texts and what counts as a failed checkpoint. Names that exist in Flink are Flink's; the others belong
to this protocol (fencing, damage, unknown outcomes).
"""

from __future__ import annotations

from enum import Enum


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
