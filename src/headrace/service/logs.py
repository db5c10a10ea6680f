"""Log files that may be read over REST: those of one table of names, and those of executors, and no others."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from headrace.driver.executor import ExecutorView
from headrace.service.errors import NotFoundError

__all__ = ["ExecutorLogs", "Logs"]

_FOLDER = re.compile(r"app-[0-9]+-[0-9]+/[0-9]+")
_NAME = re.compile(r"std(out|err)[\w.-]*")


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


class ExecutorLogs:
    """What executors of a standalone cluster print, if the work directory of their workers can be reached from here.

    >>> ExecutorLogs(None).of(ExecutorView("0", "host", 1, 1, folder="app-20260101120000-0001/0"))
    {}
    """

    def __init__(self, work: Path | None) -> None:
        self._work = work

    def of(self, executor: ExecutorView) -> dict[str, Path]:
        """Its log files by name; the job tells its folder, so that is checked: nothing leads out of the work directory."""
        if self._work is None or not _FOLDER.fullmatch(executor.folder):
            return {}
        try:
            found = sorted((self._work / executor.folder).iterdir())
        except OSError:  # on another machine, or cleared away
            return {}
        return {p.name: p for p in found if _NAME.fullmatch(p.name) and p.is_file() and not p.is_symlink()}
