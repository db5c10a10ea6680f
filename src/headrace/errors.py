"""The errors of headrace: classes, stable codes, and the message that users see.

An error says, in this order, what happened, in which operator, what was seen, what was expected, and how to fix it.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any, ClassVar

__all__ = [
    "BadRecordError",
    "CloseTimeoutError",
    "ConfigurationError",
    "HeadraceError",
    "InvalidProgramError",
    "JobCancelledError",
    "JobExecutionError",
    "LineTooLongError",
    "MissingExtraError",
    "NoJvmError",
    "StateError",
    "StateMigrationError",
    "TaskTimeoutError",
    "TypeMismatchError",
    "UserCodeError",
    "reason_of",
    "shortened",
]

_SHORT = 200


def shortened(value: object, limit: int = _SHORT) -> str:
    """Return ``repr(value)`` cut to ``limit`` characters; never raises, even if the value's ``__repr__`` does.

    >>> shortened([1, 2, 3])
    '[1, 2, 3]'
    >>> shortened("x" * 50, limit=12)
    "'xxxx...xxx'"
    """
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr failed: {type(error).__name__}>"
    if len(text) <= limit:
        return text
    head = (limit - 2) // 2
    return f"{text[:head]}...{text[len(text) - (limit - 3 - head) :]}"


def _rebuild(cls: type[HeadraceError], args: tuple[Any, ...], state: dict[str, Any]) -> HeadraceError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class HeadraceError(Exception):
    """Base of all errors that headrace raises.

    ``code`` is stable: tools may match on it. The wording of messages may change.

    >>> print(HeadraceError("No source", operator_name="Map", uid="m1", seen=3, expected="a stream", remedy="add one"))
    No source [HEADRACE]
      operator: Map (uid m1)
      seen:     3 (int)
      expected: a stream
      remedy:   add one
    """

    code: ClassVar[str] = "HEADRACE"
    location: str | None = None
    """`host:process id` of the worker that raised it, if any."""

    def __init__(
        self,
        message: str = "",
        *,
        operator_name: str | None = None,
        uid: str | None = None,
        seen: object = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        """Store the parts; ``seen`` is a string, or any value, of which a short ``repr`` is stored."""
        super().__init__(message)
        self.message = message
        self.operator_name = operator_name
        self.uid = uid
        self.seen = seen if seen is None or isinstance(seen, str) else f"{shortened(seen)} ({type(seen).__name__})"
        self.expected = expected
        self.remedy = remedy

    def _operator_text(self) -> str | None:
        if self.operator_name is None and self.uid is None:
            return None
        name = self.operator_name or "(unnamed)"
        return name if self.uid is None else f"{name} (uid {self.uid})"

    def _details(self) -> Iterator[tuple[str, str | None]]:
        yield "operator:", self._operator_text()
        yield "seen:", self.seen
        yield "expected:", self.expected
        yield "remedy:", self.remedy

    def _detail_lines(self) -> list[str]:
        # Continuation lines are indented.
        indent = "\n" + " " * 12
        return [f"  {label:<9} {text.replace(chr(10), indent)}" for label, text in self._details() if text]

    def __str__(self) -> str:
        """Return the message and a line for each part that is set."""
        return "\n".join([f"{self.message} [{self.code}]", *self._detail_lines()])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state, regardless of the arguments of a subclass."""
        return _rebuild, (type(self), self.args, self.__dict__)


def reason_of(error: BaseException) -> str:
    """Return the message of an error, in one line without its code.

    >>> reason_of(HeadraceError("not JSON", seen="{")), reason_of(KeyError("id"))
    ('not JSON', "KeyError: 'id'")
    """
    return error.message if isinstance(error, HeadraceError) else f"{type(error).__name__}: {error}"


class InvalidProgramError(HeadraceError, ValueError):
    """The program is invalid: an illegal graph, a wrong argument.

    >>> raise InvalidProgramError("No operators in the program", remedy="add a source and a sink")
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: No operators in the program [INVALID_PROGRAM]
      remedy:   add a source and a sink
    """

    code = "INVALID_PROGRAM"


class NoJvmError(InvalidProgramError, AttributeError):
    """The program asks for a Java object of Flink; headrace does not run a Flink JVM.

    Also an AttributeError, so that ``hasattr`` works as usual.

    >>> NoJvmError("No Java type").code
    'NO_JVM'
    """

    code = "NO_JVM"


class TypeMismatchError(HeadraceError, TypeError):
    """A value does not have the declared or required type.

    >>> error = TypeMismatchError("Wrong value", seen="x", expected="Long")
    >>> isinstance(error, TypeError), error.expected
    (True, 'Long')
    """

    code = "TYPE_MISMATCH"


class BadRecordError(HeadraceError, ValueError):
    """A record of an external system cannot be read: malformed, of another type, without a value.

    >>> BadRecordError("Not JSON", seen="{", remedy="ignore_parse_errors()").code
    'BAD_RECORD'
    """

    code = "BAD_RECORD"


class MissingExtraError(HeadraceError, ImportError):
    """A connector or format needs packages that are not installed.

    >>> print(MissingExtraError("Kafka needs confluent-kafka", remedy="pip install headrace[kafka]"))
    Kafka needs confluent-kafka [MISSING_EXTRA]
      remedy:   pip install headrace[kafka]
    """

    code = "MISSING_EXTRA"


class ConfigurationError(HeadraceError, ValueError):
    """An option is unknown, malformed or contradicts another.

    >>> isinstance(ConfigurationError("Bad duration"), ValueError)
    True
    """

    code = "CONFIGURATION"


class StateError(HeadraceError):
    """State cannot be read, written or restored.

    >>> StateError("No current key").code
    'STATE'
    """

    code = "STATE"


class LineTooLongError(HeadraceError):
    """A line of a file or socket is longer than a reader keeps in memory.

    >>> LineTooLongError("Too long").code
    'LINE_TOO_LONG'
    """

    code = "LINE_TOO_LONG"


class CloseTimeoutError(HeadraceError):
    """Functions did not close in time.

    >>> CloseTimeoutError("Not closed").code
    'CLOSE_TIMEOUT'
    """

    code = "CLOSE_TIMEOUT"


class StateMigrationError(StateError):
    """A state was saved with a different type than the program declares.

    >>> StateMigrationError("Another type").code
    'STATE_MIGRATION'
    """

    code = "STATE_MIGRATION"


class JobExecutionError(HeadraceError):
    """A job failed; ``__cause__`` is the cause, if known.

    >>> str(JobExecutionError("Job failed"))
    'Job failed [JOB_EXECUTION]'
    """

    code = "JOB_EXECUTION"


class JobCancelledError(JobExecutionError):
    """A job was cancelled while the program waited for its result.

    >>> issubclass(JobCancelledError, JobExecutionError)
    True
    """

    code = "JOB_CANCELLED"


def _user_frames(trace: TracebackType | None) -> TracebackType | None:
    # The leading frames are headrace's call of the function, which does not help the user. If nothing else is left,
    # the error came from headrace itself, and all frames are kept.
    first = trace
    while first is not None and first.tb_frame.f_globals.get("__name__", "").split(".")[0] == "headrace":
        first = first.tb_next
    return first or trace


class UserCodeError(HeadraceError):
    """A function of the program raised an error; the message starts with its traceback.

    >>> error = UserCodeError(
    ...     "map failed",
    ...     user_traceback="ZeroDivisionError: division by zero",
    ...     operator_name="Map",
    ...     uid="m1",
    ...     subtask=2,
    ...     record=(1, 0),
    ... )
    >>> print(error)
    ZeroDivisionError: division by zero
    <BLANKLINE>
    map failed [USER_CODE]
      operator: Map (uid m1)
      subtask:  2
      record:   (1, 0)
    """

    code = "USER_CODE"

    def __init__(
        self,
        message: str = "A function of the program raised an error",
        *,
        user_traceback: str = "",
        operator_name: str | None = None,
        uid: str | None = None,
        subtask: int | None = None,
        record: object = None,
        remedy: str | None = None,
    ) -> None:
        """Store a short ``repr`` of ``record``, not the record: it may be large or not picklable."""
        super().__init__(message, operator_name=operator_name, uid=uid, remedy=remedy)
        self.user_traceback = user_traceback
        self.subtask = subtask
        self.record = None if record is None else shortened(record)

    @classmethod
    def wrap(
        cls,
        error: BaseException,
        *,
        operator_name: str | None = None,
        uid: str | None = None,
        subtask: int | None = None,
        record: object = None,
    ) -> UserCodeError:
        """Create the error to raise instead of ``error``, without the frames that lead up to the user's function.

        >>> try:
        ...     1 / 0
        ... except ZeroDivisionError as problem:
        ...     UserCodeError.wrap(problem, operator_name="Map").user_traceback.splitlines()[-1]
        'ZeroDivisionError: division by zero'
        """
        frames = _user_frames(error.__traceback__)
        text = "".join(traceback.format_exception(type(error), error, frames)).rstrip("\n")
        return cls(
            f"{type(error).__name__} in a function of the program",
            user_traceback=text,
            operator_name=operator_name,
            uid=uid,
            subtask=subtask,
            record=record,
        )

    def _details(self) -> Iterator[tuple[str, str | None]]:
        yield "operator:", self._operator_text()
        yield "subtask:", None if self.subtask is None else str(self.subtask)
        yield "record:", self.record
        yield "remedy:", self.remedy

    def __str__(self) -> str:
        """Return the user's traceback, followed by the location."""
        where = super().__str__()
        return f"{self.user_traceback}\n\n{where}" if self.user_traceback else where


class TaskTimeoutError(UserCodeError):
    """A task took longer than an option allows; the message starts with its stack.

    >>> where = 'File "job.py", line 3, in map'
    >>> print(TaskTimeoutError.after(5.0, "headrace.task.timeout", stack=where, operator_name="Map", subtask=0))
    File "job.py", line 3, in map
    <BLANKLINE>
    A task took longer than headrace.task.timeout, 5 s [TASK_TIMEOUT]
      operator: Map
      subtask:  0
      remedy:   set a timeout for what the function waits for; if it is only slow, raise headrace.task.timeout
    """

    code = "TASK_TIMEOUT"

    @classmethod
    def after(
        cls,
        seconds: float,
        option: str,
        *,
        stack: str,
        operator_name: str | None = None,
        uid: str | None = None,
        subtask: int | None = None,
    ) -> TaskTimeoutError:
        """Create the error of a task that was at ``stack`` when it timed out."""
        return cls(
            f"A task took longer than {option}, {seconds:g} s",
            user_traceback=stack,
            operator_name=operator_name,
            uid=uid,
            subtask=subtask,
            remedy=f"set a timeout for what the function waits for; if it is only slow, raise {option}",
        )
