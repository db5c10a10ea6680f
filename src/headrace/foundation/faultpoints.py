"""The named points at which tests stop a process: 28 places of the checkpoint protocol.

Decides what happens when a point is reached. Without an armed fault that is nothing: one comparison. Called by the
protocol's interpreter, by the store during a write, and by tasks. Only used by tests.

A fault is armed for a whole process by the environment variable ``HEADRACE_FAULT=point:n:action``: when the point is
reached for the n-th time (from 1), ``kill`` kills the process with SIGKILL, ``stop`` pauses it with SIGSTOP until it
receives SIGCONT, ``raise`` raises `InjectedFaultError`. A killed process may be replaced by one with the same environment:
with ``HEADRACE_FAULT_ONCE=path`` the fault happens only in one process, the one that creates that file.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from headrace.errors import ConfigurationError, HeadraceError

VARIABLE: Final = "HEADRACE_FAULT"
ONCE: Final = "HEADRACE_FAULT_ONCE"

POINTS: Final[tuple[str, ...]] = (
    # P0 claim a generation
    "gen.claim.pre",
    "gen.claim.post",
    # P1 plan the epoch
    "plan.pre",
    "plan.torn",
    "plan.post",
    # P2 state file of a task
    "state.pre",
    "state.torn",
    "state.post",
    # P3 pre-commit of a sink
    "precommit.pre",
    "precommit.mid",
    "precommit.post",
    # P4 acknowledgements at the driver
    "acks.partial",
    "acks.full",
    # P5 manifest: the commit point
    "manifest.pre",
    "manifest.torn",
    "manifest.post",
    # P6 commit of each handle
    "commit.pre",
    "commit.between",
    "commit.ambiguous",
    "commit.post",
    # P7 committed marker
    "marker.pre",
    "marker.torn",
    "marker.post",
    # P8 publish
    "publish.pre",
    "publish.post",
    # P9 garbage collection
    "gc.pre",
    "gc.between",
    "gc.post",
)

_ACTIONS = ("kill", "stop", "raise")


class InjectedFaultError(HeadraceError):
    """A test injected a failure here.

    >>> InjectedFaultError("marker.pre").code
    'INJECTED_FAULT'
    """

    code = "INJECTED_FAULT"


@dataclass(frozen=True)
class Fault:
    """The action when `point` is reached for the `count`-th time.

    >>> parse("manifest.pre:2:raise").point
    'manifest.pre'
    """

    point: str
    count: int
    action: str
    once: str | None = None
    """A file: the fault happens only in the process that creates it."""


class _Watch:
    """Counts points and triggers the fault."""

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault
        self.counts: Counter[str] = Counter()

    def reach(self, point: str) -> None:
        if point not in POINTS:
            raise ConfigurationError("Unknown fault point", seen=point)
        self.counts[point] += 1
        fault = self.fault
        if fault is None or fault.point != point or fault.count != self.counts[point]:
            return
        if fault.once is not None and not _created(fault.once):
            return
        if fault.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault.action == "stop":
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # in this thread, not in any other
            return
        raise InjectedFaultError(f"The fault {point}:{fault.count} was asked for by {VARIABLE}")


def _created(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def parse(text: str, once: str | None = None) -> Fault:
    """Parse ``point:n:action``.

    >>> parse("manifest.pre:2:kill")
    Fault(point='manifest.pre', count=2, action='kill', once=None)
    """
    point, _, rest = text.partition(":")
    count, _, action = rest.partition(":")
    if point not in POINTS or not count.isascii() or not count.isdigit() or int(count) < 1 or action not in _ACTIONS:
        raise ConfigurationError(
            f"{VARIABLE} cannot be parsed",
            seen=text,
            expected="point:n:kill, point:n:stop or point:n:raise, with a known point and n from 1",
        )
    return Fault(point, int(count), action, once)


_watch: _Watch | None = None


def reach(point: str) -> None:
    """Report that the process is at `point`. Does nothing unless a test armed a fault or counts.

    >>> reach("manifest.pre")
    """
    if _watch is not None:
        _watch.reach(point)


def arm(text: str, once: str | None = None) -> None:
    """Arm a fault for this process, replacing any other; with the file `once`, it happens in one process only.

    >>> arm("plan.pre:1:raise")
    >>> reach("plan.pre")
    Traceback (most recent call last):
    ...
    headrace.foundation.faultpoints.InjectedFaultError: The fault plan.pre:1 was asked for by HEADRACE_FAULT [INJECTED_FAULT]
    >>> disarm()
    """
    global _watch  # noqa: PLW0603 - a process has one armed fault
    _watch = _Watch(parse(text, once))


def disarm() -> None:
    """Disarm all faults.

    >>> arm("manifest.pre:1:raise")
    >>> disarm()
    >>> reach("manifest.pre")
    """
    global _watch  # noqa: PLW0603 - see arm
    _watch = None


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count the points that are reached inside the block; an armed fault stays armed and restarts its count.

    >>> with counting() as reached:
    ...     reach("gc.pre")
    >>> reached
    Counter({'gc.pre': 1})
    """
    global _watch  # noqa: PLW0603 - see arm
    before = _watch
    _watch = _Watch(before.fault if before is not None else None)
    try:
        yield _watch.counts
    finally:
        _watch = before


if os.environ.get(VARIABLE):
    arm(os.environ[VARIABLE], os.environ.get(ONCE))
