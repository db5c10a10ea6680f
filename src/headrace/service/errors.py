"""What a request can be refused with. Shown to clients as Flink shows errors: `{"errors": [...]}`."""

from __future__ import annotations

from headrace.errors import HeadraceError

__all__ = ["NotFoundError", "RequestError", "UnavailableError"]


class RequestError(HeadraceError):
    """The request cannot be served as it is; `status` is the HTTP status of the answer.

    >>> RequestError("no such thing", status=404).status
    404
    """

    code = "REQUEST"

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class NotFoundError(RequestError):
    """What the path names does not exist.

    >>> NotFoundError("no job").status
    404
    """

    code = "NOT_FOUND"

    def __init__(self, message: str) -> None:
        super().__init__(message, status=404)


class UnavailableError(RequestError):
    """It exists, but cannot answer now: a job that is just starting, an election under way.

    >>> UnavailableError("starting").status
    503
    """

    code = "UNAVAILABLE"

    def __init__(self, message: str) -> None:
        super().__init__(message, status=503)
