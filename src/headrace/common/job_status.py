"""The states of a job.

Decides which of them are final. Never decides a transition: the runtime's state machine does.
"""

from enum import Enum

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """Where a job stands.

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
        """Return whether the job has ended for good: nobody may take it up again.

        >>> JobStatus.SUSPENDED.is_globally_terminal_state()
        False
        """
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Return whether this job master has ended the job; another one may take up a suspended job.

        >>> JobStatus.SUSPENDED.is_terminal_state()
        True
        """
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()


offer_pyflink_names(__name__)
