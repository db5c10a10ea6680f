"""Errors that reject a request. Clients receive them in Flink's format: `{"errors": [...]}`."""

from __future__ import annotations

from headrace.errors import HeadraceError


class RequestError(HeadraceError):
    """The request cannot be served; `status` is the HTTP status of the response.

    >>> RequestError("no such thing", status=404).status
    404
    """

    code = "REQUEST"
    status = 400

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = self.status if status is None else status


class NotFoundError(RequestError):
    """The path names something that does not exist.

    >>> NotFoundError("no job").status
    404
    """

    code = "NOT_FOUND"
    status = 404


class UnavailableError(RequestError):
    """The target exists but cannot respond now: a job is starting, or an election is in progress.

    >>> UnavailableError("starting").status
    503
    """

    code = "UNAVAILABLE"
    status = 503
