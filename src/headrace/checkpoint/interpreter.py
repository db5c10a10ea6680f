"""Performs the instructions of the protocol on a store, a committer and a publisher: the edge of the protocol.

Decides nothing. Fault points inside an effect are reached here: halfway through the write of a record, and after a commit
whose answer is then lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from headrace.checkpoint import instructions as do
from headrace.checkpoint.ports import Committer, Publisher, Store
from headrace.checkpoint.steps import Steps
from headrace.foundation.faultpoints import reach

T = TypeVar("T")


class Interpreter:
    """The ports of one driver. `sleep` waits for a number of seconds."""

    def __init__(
        self, store: Store, committer: Committer, publisher: Publisher, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._store = store
        self._committer = committer
        self._publisher = publisher
        self._sleep = sleep

    def run(self, steps: Steps[T]) -> T:
        """Perform all instructions; pass errors of the ports to the workflow, which may handle them."""
        try:
            instruction = next(steps)
            while True:
                try:
                    answer = self.perform(instruction)
                except Exception as error:
                    instruction = steps.throw(error)
                else:
                    instruction = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def perform(self, instruction: do.Instruction) -> object:
        match instruction:
            case do.Reach(point):
                reach(point)
            case do.Settle():
                self._store.settle()
            case do.ListNames(folder):
                return self._store.list(folder)
            case do.Read(name):
                return self._store.read(name)
            case do.Create(name, record, inside):
                return self._store.create(name, record, None if inside is None else lambda: reach(inside))
            case do.Delete(name):
                self._store.delete(name)
            case do.RemoveAll():
                self._store.remove_all()
            case do.CheckFile(file):
                return self._store.problem_of(file)
            case do.Commit(committable):
                self._committer.commit(committable)
                reach("commit.ambiguous")
            case do.Abort(committable):
                return self._committer.abort(committable)
            case do.ListStaged():
                return self._committer.staged()
            case do.Untouched(epoch):
                return self._committer.untouched(epoch)
            case do.Publish(manifest):
                self._publisher.publish(manifest)
            case do.Pause(seconds):
                self._sleep(seconds)
        return None
