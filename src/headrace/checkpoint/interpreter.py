"""Carries the workflow's instructions out on a store, a committer and a publisher. The edge of the protocol.

Decides nothing. Fault points that stand inside an effect are reached here: in the midst of a record's write, and after a
commit whose answer then does not arrive.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from headrace.checkpoint import instructions as do
from headrace.checkpoint.committer import Committer, Publisher
from headrace.checkpoint.store import Store
from headrace.foundation.faultpoints import reach

__all__ = ["Interpreter"]

T = TypeVar("T")


class Interpreter:
    """The ports of one driver.

    >>> from headrace.checkpoint.file_store import FileStore
    >>> from headrace.checkpoint.no_sinks import NoSinks
    >>> from headrace.checkpoint.workflow import Workflow
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     driver = Interpreter(FileStore(folder, "job"), NoSinks(), NoSinks())
    ...     workflow = Workflow("job", "driver-1")
    ...     driver.run(workflow.recover()).verdict.name, workflow.generation, workflow.epoch
    ('REDO', 1, 1)
    """

    def __init__(self, store: Store, committer: Committer, publisher: Publisher) -> None:
        self._store = store
        self._committer = committer
        self._publisher = publisher

    def run(self, steps: Generator[do.Instruction, Any, T]) -> T:
        """Carry out all instructions; errors of the ports are handed to the workflow, which may know better."""
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
        """Carry out one instruction and give its answer."""
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
        return None
