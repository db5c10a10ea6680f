"""Failures of a task as something that can be sent to the driver."""

from __future__ import annotations

import socket
import traceback

from headrace.errors import ConfigurationError, HeadraceError, JobExecutionError, UserCodeError
from headrace.state.job_folder import STATE_PREFIX


def as_headrace_error(error: BaseException) -> HeadraceError:
    """The error itself if it is one of headrace's own, else one that holds its traceback as text.

    >>> as_headrace_error(KeyError("x")).code, as_headrace_error(SystemExit(1)).code
    ('JOB_EXECUTION', 'USER_CODE')
    """
    if isinstance(error, HeadraceError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if isinstance(error, (SystemExit, KeyboardInterrupt)):  # only user code raises these in a task
        return UserCodeError.wrap(error)
    if isinstance(error, FileNotFoundError) and STATE_PREFIX in str(error.filename):
        return ConfigurationError(
            "A worker does not find the job's state directory",
            seen=f"{error.filename} on {socket.gethostname()}",
            remedy="set headrace.state.directory to a directory that the driver and all executors share.",
        )
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if isinstance(error, ImportError):
        return JobExecutionError(
            f"The job's code cannot be loaded in a worker: {error}\n{text}",
            remedy="install the module where the executors run, or ship it with the Spark option spark.submit.pyFiles",
        )
    return JobExecutionError(f"A task failed outside of user code\n{text}")
