"""Log files that may be read over REST: those of one table of names, and no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headrace.service.errors import NotFoundError

__all__ = ["Logs"]


class Logs:
    """Names of logs and where they lie; the table is asked for anew each time, because jobs come and go.

    >>> Logs(Path("service.log"), lambda: {}).find("../../etc/passwd")
    Traceback (most recent call last):
    ...
    headrace.service.errors.NotFoundError: This file does not exist in JobManager log dir. [NOT_FOUND]
    """

    def __init__(self, main: Path | None, others: Callable[[], dict[str, Path]]) -> None:
        """`main` is the log of the service itself, if it has one."""
        self._main = main
        self._others = others

    def _table(self) -> dict[str, Path]:
        return {**({} if self._main is None else {self._main.name: self._main}), **self._others()}

    def names(self) -> list[str]:
        """All logs that are there."""
        return [name for name, path in self._table().items() if path.is_file()]

    def find(self, name: str) -> Path:
        """The log with this name."""
        path = self._table().get(name)
        if path is None or not path.is_file():
            raise NotFoundError("This file does not exist in JobManager log dir.")
        return path

    def main(self) -> Path:
        """The log of the service itself."""
        return self.find("" if self._main is None else self._main.name)
