"""Rescales a running job as its plan says, and files what became of each request.

A step of the plan is [gap in seconds, way, parallelism, parallelism]. Ways:

    once        one request
    twice       two requests back to back, from two threads
    rest        the same through the operations of the REST routes
    file        the file that `headrace.rescale.file` names is edited
    savepoint   a savepoint is asked for at the same time

A line of the file `rescales` is "done N", "refused WHY" or "bad WHAT". A refusal has a reason; all else that is raised, and
a request without an answer, is bad.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from headrace.common.errors import HeadraceError
from headrace.service.local_job import LocalJob
from headrace.service.rest.operations import Operations

NAME, FILE = "rescales", "parallelism.yaml"
WAYS = ("once", "once", "twice", "twice", "rest", "file", "savepoint")
_ANSWER_S = 60.0
_FILE_S = 30.0


class Rescaler:
    """Runs beside one life of the job; the plan goes on in the next life where this one ended."""

    def __init__(self, job: Any, root: str, plan: list[list[Any]]) -> None:
        self._job, self._root = job, root
        self._plan = plan
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._asking: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """The job has ended: all who have asked must have their answer."""
        self._over.set()
        for thread in [self._thread, *self._asking]:
            thread.join(_ANSWER_S)
            if thread.is_alive():
                self._note("bad a request got no answer")

    def _run(self) -> None:
        for gap, way, one, two in self._plan:
            if self._over.wait(gap):
                return
            if way == "file":
                self._edit(one)
            elif way == "rest":
                self._through_rest(one, two)
            elif way == "once":
                self._together(lambda one=one: self._rescale(one))
            elif way == "twice":
                self._together(lambda one=one: self._rescale(one), lambda two=two: self._rescale(two))
            else:
                self._together(lambda one=one: self._rescale(one), self._save)

    def _together(self, *calls: Callable[[], Any]) -> None:
        threads = [threading.Thread(target=self._guarded, args=(call,), daemon=True) for call in calls]
        self._asking = threads
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _rescale(self, parallelism: int) -> None:
        self._job.rescale(parallelism)
        self._note(f"done {parallelism}")

    def _save(self) -> None:
        self._job.trigger_savepoint(os.path.join(self._root, "savepoints"))

    def _guarded(self, call: Callable[[], Any]) -> None:
        try:
            call()
        except HeadraceError as error:
            self._note(f"refused {error.message}" if error.message else "bad a refusal without a reason")
        except BaseException as error:
            self._note(f"bad {error!r}")

    def _through_rest(self, one: int, two: int) -> None:
        """Two operations at once, as two PATCH requests start them."""
        operations, gateway = Operations(), LocalJob(self._job)
        asked = {}
        for parallelism in (one, two):

            def work(parallelism: int = parallelism) -> dict[str, Any]:
                gateway.rescale(parallelism)
                return {}

            asked[operations.start("rescaling", "job", None, work)] = parallelism
        operations.wait()
        for trigger, parallelism in asked.items():
            cause = operations.status("rescaling", "job", trigger)["operation"].get("failure-cause")
            self._note(f"done {parallelism}" if cause is None else f"refused {cause['class']}: {cause['stack-trace']}")

    def _edit(self, parallelism: int) -> None:
        """Counts only if the job has followed the file before it ended."""
        path = os.path.join(self._root, FILE)
        with open(path + ".part", "w") as file:
            file.write(f"parallelism.default: {parallelism}\n")
        os.replace(path + ".part", path)
        deadline = time.monotonic() + _FILE_S
        while not self._over.wait(0.01):
            if max(v.parallelism for v in self._job.view().vertices) == parallelism:
                self._note(f"done {parallelism}")
                return
            if time.monotonic() > deadline:
                self._note(f"bad the job did not follow its file to {parallelism}")
                return

    def _note(self, line: str) -> None:
        with self._lock, open(os.path.join(self._root, NAME), "a") as file:
            file.write(" ".join(line.split())[:500] + "\n")


def outcomes(root: Any) -> list[str]:
    """The lines that all lives of a trial have filed."""
    with contextlib.suppress(FileNotFoundError):
        with open(os.path.join(root, NAME)) as file:
            return file.read().splitlines()
    return []
