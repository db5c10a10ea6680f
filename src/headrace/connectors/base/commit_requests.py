"""CommitRequest: what a user's committer gets, how it answers, and how commits are retried."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from headrace.errors import HeadraceError

RETRIES = 10
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_log = logging.getLogger("headrace")


class CommitFailedError(HeadraceError):
    """A sink could not commit and asked for a retry too often.

    >>> CommitFailedError("3 of 5 are not committed").code
    'COMMIT_FAILED'
    """

    code = "COMMIT_FAILED"


class CommitRequest:
    """One committable to commit. Unless one of the methods below is called it counts as committed.

    >>> request = CommitRequest("file-1")
    >>> request.get_committable(), request.get_number_of_retries()
    ('file-1', 0)
    """

    def __init__(self, committable: Any) -> None:
        """Programs do not call this: the engine creates requests."""
        self._committable = committable
        self._retries = 0
        self.waiting = True
        """Whether it still has to be committed."""
        self.error: Exception | None = None
        self.outcome = "successful"
        """The result once it is not waiting any more: successful, alreadyCommitted or failed."""

    def get_committable(self) -> Any:
        """Return the committable that the writer's `prepare_commit` returned."""
        return self._committable

    def get_number_of_retries(self) -> int:
        """Return how often this request asked for a retry."""
        return self._retries

    def retry_later(self) -> None:
        """Ask for this request again a little later; after ten times the job fails and restarts."""
        self.waiting = True

    def update_and_retry_later(self, committable: Any) -> None:
        """Ask for a retry with another committable, such as the rest of a partly committed one."""
        self._committable = committable
        self.waiting = True

    def signal_already_committed(self) -> None:
        """Report that it was committed before: this counts as success."""
        self.waiting, self.outcome = False, "alreadyCommitted"

    def signal_failed_with_known_reason(self, reason: Exception) -> None:
        """Give up the committable, with a line in the log: its data is lost and the job continues."""
        self.waiting, self.outcome = False, "failed"
        _log.error("headrace: %r is given up, it cannot be committed: %s", self._committable, reason)

    def signal_failed_with_unknown_reason(self, reason: Exception) -> None:
        """Fail: the job restarts from the checkpoint, as its restart strategy says, and commits again."""
        self.error = reason

    def next_round(self) -> None:
        """Count a retry; the engine calls this."""
        self._retries += 1


def commit_all(
    requests: list[CommitRequest],
    commit: Callable[[list[CommitRequest]], None],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Call `commit` until no request waits.

    >>> requests = [CommitRequest("a"), CommitRequest("b")]
    >>> def commit(asked):
    ...     print([r.get_committable() for r in asked])
    ...     if asked[-1].get_number_of_retries() < 2:
    ...         asked[-1].retry_later()
    >>> commit_all(requests, commit, sleep=lambda seconds: None)
    ['a', 'b']
    ['b']
    ['b']
    """
    pause = _FIRST_PAUSE
    for _ in range(RETRIES + 1):
        asked = [r for r in requests if r.waiting]
        if not asked:
            return
        for request in asked:
            request.waiting, request.error = False, None
        try:
            commit(asked)
        except BaseException:
            for request in asked:
                request.waiting = True
            raise
        for request in asked:
            if request.error is not None:
                request.waiting = True
                raise request.error
        again = [r for r in asked if r.waiting]
        if not again:
            return
        for request in again:
            request.next_round()
        sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    left = [r for r in requests if r.waiting]
    raise CommitFailedError(
        f"{len(left)} of {len(requests)} commits were put off {RETRIES} times in a row",
        seen=left[0].get_committable(),
        remedy="check the external system; the job continues from its checkpoint and commits them first",
    )
