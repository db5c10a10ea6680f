"""Failures of a task as something that can be sent to the driver."""

from __future__ import annotations

import traceback

from headrace.common.errors import HeadraceError, JobExecutionError


def as_headrace_error(error: BaseException) -> HeadraceError:
    """The error itself if it is one of headrace's own, else one that holds its traceback as text.

    >>> as_headrace_error(KeyError("x")).code
    'JOB_EXECUTION'
    """
    if isinstance(error, HeadraceError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return JobExecutionError(f"A task failed outside of user code\n{text}")
