"""The log files that REST may read: those in a table of names, and those of executors. No other file can be read."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

from headrace.driver.executor import ExecutorView
from headrace.service.errors import NotFoundError

_log = logging.getLogger("headrace.service")
_FOLDER = re.compile(r"app-[0-9]+-[0-9]+/[0-9]+")
_NAME = re.compile(r"std(out|err)[\w.-]*")


class Logs:
    """Names and paths of logs. The table is computed for each request, because jobs come and go.

    >>> Logs(Path("service.log"), lambda: {}).find("../../etc/passwd")
    Traceback (most recent call last):
    ...
    headrace.service.errors.NotFoundError: This file does not exist in JobManager log dir. [NOT_FOUND]
    """

    def __init__(self, main: Path | None, others: Callable[[], dict[str, Path]]) -> None:
        """Create the table; `main` is the log of the service itself, if it has one."""
        self._main = main
        self._others = others

    def _table(self) -> dict[str, Path]:
        return {**({} if self._main is None else {self._main.name: self._main}), **self._others()}

    def names(self) -> list[str]:
        return [name for name, path in self._table().items() if path.is_file()]

    def find(self, name: str) -> Path:
        path = self._table().get(name)
        if path is None or not path.is_file():
            raise NotFoundError("This file does not exist in JobManager log dir.")
        return path

    def main(self) -> Path:
        return self.find("" if self._main is None else self._main.name)


class ExecutorLogs:
    """Output of the executors of a standalone cluster, if the work directory of their workers is accessible from here.

    >>> ExecutorLogs(None).of(ExecutorView("0", "host", 1, 1, folder="app-20260101120000-0001/0"))
    {}
    """

    def __init__(self, work: Path | None) -> None:
        self._work = work

    def of(self, executor: ExecutorView) -> dict[str, Path]:
        """Return its log files by name. The folder comes from the job, so check that it is inside the work directory."""
        if self._work is None or not _FOLDER.fullmatch(executor.folder):
            return {}
        try:
            found = sorted((self._work / executor.folder).iterdir())
        except OSError as error:  # on another machine, or removed
            _log.debug("no logs of executor %s: %s", executor.id, error)
            return {}
        return {p.name: p for p in found if _NAME.fullmatch(p.name) and p.is_file() and not p.is_symlink()}
