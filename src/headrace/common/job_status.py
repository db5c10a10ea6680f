"""JobStatus: the states of a job, and which of them are final."""

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["JobStatus"]
offer_pyflink_names(__name__)


class JobStatus(Enum):
    """The state of a job.

    >>> JobStatus.FINISHED.is_terminal_state(), JobStatus.RESTARTING.is_terminal_state()
    (True, False)
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Return whether the state is final for all job masters: the job cannot be resumed.

        >>> JobStatus.SUSPENDED.is_globally_terminal_state()
        False
        """
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Return whether the state is final for this job master; another one may resume a suspended job.

        >>> JobStatus.SUSPENDED.is_terminal_state()
        True
        """
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()
