"""Errors between the command line and a service, and the exit codes of the commands.

0    success
1    the job, savepoint or check failed
2    wrong arguments or configuration
3    the service is unreachable
4    no such job, program or savepoint
130  interrupted (Ctrl-C)
"""

from __future__ import annotations

from typing import ClassVar

from headrace.errors import ConfigurationError, HeadraceError

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130


class ServiceError(HeadraceError):
    """The service rejected a request, or could not perform it.

    >>> exit_code_of(ServiceError("no"))
    1
    """

    code: ClassVar[str] = "SERVICE"
    exit_code: ClassVar[int] = FAILED


class ServiceUnreachableError(ServiceError):
    """No service responds.

    >>> exit_code_of(ServiceUnreachableError("no"))
    3
    """

    code = "SERVICE_UNREACHABLE"
    exit_code = 3


class NotFoundError(ServiceError):
    """The service does not know the job, program or savepoint.

    >>> exit_code_of(NotFoundError("no"))
    4
    """

    code = "NOT_FOUND"
    exit_code = 4


def exit_code_of(error: HeadraceError) -> int:
    """Return the exit code of a command that raises this error.

    >>> exit_code_of(ConfigurationError("no"))
    2
    """
    if isinstance(error, ServiceError):
        return error.exit_code
    return WRONG_USE if isinstance(error, ConfigurationError) else FAILED
