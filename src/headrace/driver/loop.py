"""The loop of a job: performs the instructions of its machine and reports what came of them.

1. Take the next event: what the last instructions reported, else what others have posted.
2. Tell the machine, which decides.
3. Perform its instructions in their order. An exception is the event `Failed`.

A failure voids the instructions that were still to be performed, and the events that were reported before it.

Instructions are performed by `performers`, one function for each kind, which returns the events to report. A performer
need not wait until its work is done: it may return nothing and `post` the event later, from any thread.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from queue import SimpleQueue
from typing import Any

from headrace.common.job_status import JobStatus
from headrace.driver.events import Begun, Event, Failed
from headrace.driver.instructions import Instruction
from headrace.driver.job_machine import InternalError, JobMachine
from headrace.driver.transitions import State
from headrace.worker.failures import as_headrace_error

Performers = Mapping[type[Instruction], Callable[[Any], Iterable[Event]]]
_log = logging.getLogger("headrace")


class Loop:
    """Runs one job. Only `run` belongs to the loop's own thread; the rest may be called from any."""

    def __init__(self, machine: JobMachine, entered: Callable[[JobStatus], None], name: str) -> None:
        """`entered` is told each new status, while no other thread can change it."""
        self.performers: Performers = {}
        self._machine = machine
        self._entered = entered
        self._name = name
        self._lock = threading.Lock()
        self._posted: SimpleQueue[Event] = SimpleQueue()

    @property
    def machine(self) -> JobMachine:
        """The machine, for questions only."""
        return self._machine

    def post(self, event: Event) -> None:
        """Let the loop handle an event when it comes round to it."""
        self._posted.put(event)

    def tell(self, event: Event) -> list[Instruction]:
        """Tell the machine at once. The caller has to perform the instructions."""
        with self._lock:
            before = self._machine.status
            instructions = self._machine.handle(event)
            status = self._machine.status
            begun = isinstance(event, Begun) and self._machine.state in (State.RUNNING, State.RESCALING)
            if status is not before or begun:
                self._entered(status)
            if _log.isEnabledFor(logging.DEBUG):
                _log.debug("headrace: %r %s", self._name, self._machine.story[-1])
        return instructions

    def tell_and_perform(self, event: Event) -> None:
        """Tell the machine and perform what it asks for here, for threads other than the loop's."""
        for reported in self._perform(self.tell(event)):
            self.post(reported)

    def run(self, instructions: Iterable[Instruction]) -> None:
        """Run the job to its end, from its first instructions."""
        events: deque[Event] = deque()
        while True:
            try:
                for reported in self._perform(instructions):
                    events.append(reported)
            except BaseException as error:
                events = deque([self._failure(error)])
            if self._machine.ended:
                return
            event = events.popleft() if events else self._posted.get()
            if isinstance(event, Failed):
                events.clear()
            instructions = self._decide(event)

    def _decide(self, event: Event) -> list[Instruction]:
        try:
            return self.tell(event)
        except InternalError as error:
            _log.error("headrace: %r has an internal error: %s", self._name, error)
            return self.tell(Failed(error, final=True))

    def _perform(self, instructions: Iterable[Instruction]) -> Iterable[Event]:
        for instruction in instructions:
            yield from self.performers[type(instruction)](instruction)

    def _failure(self, error: BaseException) -> Failed:
        _log.debug("headrace: %r failed", self._name, exc_info=error)
        return Failed(as_headrace_error(error), final=not isinstance(error, Exception))
