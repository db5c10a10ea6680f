"""Convert Spark's exceptions to errors that help: without a Java stack trace if the cause is known.

Failures of user code are not raised by Spark: they arrive as frames. The failures here are a worker, slot or executor that
was lost more often than Spark retries, a setup in which workers cannot run headrace, and a SparkContext that is gone.
"""

from __future__ import annotations

import re
import sys
import textwrap

from headrace.driver.executor import EpochLostError
from headrace.errors import ConfigurationError, HeadraceError, JobExecutionError

_LOST = (
    "SlotLostError",
    "SlotStartError",
    "Python worker exited unexpectedly",
    "Python worker failed to connect back",
    "ExecutorLostFailure",
    "FetchFailed",
    "ExecutorDeadException",
)
_DAEMON_SAID = re.compile(r"Error from python worker:\n(.*?)\nPYTHONPATH was:", re.DOTALL)
"""The output of a Python daemon that did not start, indented by Spark."""
_LOST_TASK = re.compile(r"^.*?\(TID \d+\) \([^)]*\): ", re.DOTALL)
"""The text before the cause: which job, stage and task."""
_GONE = (
    "stopped SparkContext",
    "SparkContext was shut down",
    "SparkContext has been shutdown",
    "is cancelled because SparkContext",
)


def as_epoch_error(error: Exception) -> HeadraceError:
    """Return the error to raise for an epoch that Spark did not complete.

    >>> as_epoch_error(RuntimeError("... SlotLostError: the slot process has died")).code
    'EPOCH_LOST'
    """
    if isinstance(error, HeadraceError):
        return error
    text = _message_of(error)
    if any(mark in text for mark in _GONE) or type(error).__name__ in ("Py4JNetworkError", "ConnectionRefusedError"):
        return JobExecutionError(
            "The SparkContext that the job ran on is gone",
            seen=_first_line(text),
            remedy="stop a SparkContext only after its jobs have ended; if Spark's JVM died, see its log.",
        )
    return _setup_error(text) or (
        EpochLostError(
            "A process of the job died repeatedly",
            operator_name=_operator(text),
            seen=_reason(text),
            remedy="see its output above; if it was killed for its memory use, reduce its state or give it more memory; "
            "if a library crashes it, find the record with the local executor (headrace.executor: local).",
        )
        if any(mark in text for mark in _LOST)
        else JobExecutionError(f"Spark could not run an epoch: {_reason(text)}")
    )


def _setup_error(text: str) -> HeadraceError | None:
    missing = re.search(r"No module named '(headrace|pyspark|cloudpickle)\b|import of (headrace)\b[.\w]* halted", text)
    if missing:
        return ConfigurationError(
            f"The Python of the executors has no module {missing.group(1) or missing.group(2)!r}",
            remedy="install headrace on the machines of the executors, or set spark.pyspark.python to a Python that has it.",
        )
    if re.search(r"No module named headrace\.", text):
        return ConfigurationError(
            "The executors have another version of headrace than this program",
            seen=_reason(text),
            remedy="install the same version on all machines, or set spark.pyspark.python to a Python that has it.",
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return ConfigurationError(
            "The executors run another version of Python than this program",
            seen=_reason(text),
            expected=f"Python {sys.version_info[0]}.{sys.version_info[1]}",
            remedy="set spark.pyspark.python (or PYSPARK_PYTHON, or set_python_executable() where the program has it) "
            "to the same version of Python on all machines.",
        )
    program = re.search(r'Cannot run program "([^"]*)"', text)
    if program:
        return ConfigurationError(
            f"The executors cannot start {program.group(1)!r}",
            seen=_reason(text),
            remedy="set spark.pyspark.python (or PYSPARK_PYTHON, or set_python_executable() where the program has it) "
            "to a Python that exists on all machines.",
        )
    if "must be a directory of user" in text:
        return ConfigurationError("The folder of the job's slot processes is not private", seen=_reason(text))
    return None


def _operator(text: str) -> str | None:
    """Return the operators of the task whose slot has died.

    >>> _operator("SlotLostError: the slot process of 'Map -> Filter' (subtask 0 of 2) has died")
    'Map -> Filter'
    """
    found = re.search(r"the slot process of (['\"])(.+)\1 \(subtask ", text)
    return None if found is None else found.group(2)


def _message_of(error: Exception) -> str:
    """Return the Java message with all its causes, if there is one."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return f"{type(error).__name__}: {error}"
    try:
        return str(java.toString())
    except Exception:
        return str(error)


def _reason(text: str) -> str:
    r"""Return the relevant line of a SparkException: the worker's exception if there is one, else the first line.

    >>> _reason("Lost: Traceback (most recent call last):\n  File ...\na.b.OddError: odd\n SQLSTATE: 38000\n\n\tat x")
    'a.b.OddError: odd'
    >>> _reason("Lost task 0.0 in stage 1.0 (TID 7) (host executor 2): java.io.IOException: odd\n\tat x")
    'java.io.IOException: odd'
    """
    daemon = _DAEMON_SAID.search(text)
    if daemon is not None:
        text = textwrap.dedent(daemon.group(1))
    _, found, worker = text.partition("Traceback (most recent call last):\n")
    raised = [line for line in worker.partition("\n\tat ")[0].splitlines() if re.match(r"[\w.]+(: |$)", line)]
    return raised[-1] if found and raised else _first_line(_LOST_TASK.sub("", text, count=1))


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    return lines[0] if lines else text
