"""Turn failures of a task into errors, and frames, that can be sent to the driver."""

from __future__ import annotations

import os
import pickle
import socket
import traceback

from headrace.errors import ConfigurationError, HeadraceError, JobExecutionError, UserCodeError
from headrace.state.job_folder import STATE_PREFIX
from headrace.worker.exchange.frames import FAILURE, control_frame
from headrace.worker.messages import TaskFailure, TaskId


def as_headrace_error(error: BaseException) -> HeadraceError:
    """Return a HeadraceError unchanged; wrap any other exception in one that contains its traceback.

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
            "A worker cannot find the job's state directory",
            seen=f"{error.filename} on {socket.gethostname()}",
            remedy="set headrace.state.directory to a directory that the driver and all executors share.",
        )
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if isinstance(error, ImportError):
        return JobExecutionError(
            f"The job's code cannot be loaded in a worker: {error}\n{text}",
            remedy="install the module on the executors, or ship it with the Spark option spark.submit.pyFiles",
        )
    return JobExecutionError(f"A task failed outside of user code\n{text}")


def failure_frame(task_id: TaskId, attempt: int, error: HeadraceError) -> bytes:
    """Return the frame that tells the driver that a task failed."""
    error.location = f"{socket.gethostname()}:{os.getpid()}"
    try:
        return control_frame(FAILURE, task_id, attempt, TaskFailure(task_id, error))
    except (pickle.PicklingError, TypeError, AttributeError):  # the program's own error class, with unpicklable content
        return control_frame(FAILURE, task_id, attempt, TaskFailure(task_id, HeadraceError(str(error))))
