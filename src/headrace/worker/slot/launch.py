"""Start and end slot processes. Couriers start them; the end of a job on this machine ends them.

SIGTERM ends a slot: it leaves user code, closes the functions and exits. If it takes too long, it is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from headrace.worker.slot.folder import entries, living_slots, mark_ending, remove_folder

START_SECONDS = 60.0
CLOSE_SECONDS = 10.0
_POLL_SECONDS = 0.01
_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
READY = b"."
"""What a slot writes once it listens."""


class SlotStartError(Exception):
    """A slot process did not start."""


_SLOT = "headrace.worker.slot.process"
_WITH_OTHER_PYTHON = """
import os, runpy, sys
path, wanted = sys.argv.pop(1), sys.argv.pop(1)
here = "%d.%d" % sys.version_info[:2]
if here != wanted:
    os.write(int(sys.argv[-1]), here.encode())
    sys.exit(1)
entries = path.split(":")
sys.path[:0] = entries
import cloudpickle, headrace
del sys.path[:len(entries)]
sys.path += entries
runpy.run_module("{slot}", run_name="__main__", alter_sys=True)
"""


def start_slot(folder: Path, index: int, daemon: int, python: str | None = None) -> None:
    """Start slot `index` and wait until it listens. The caller holds the start lock.

    `python` is the interpreter that the program asked for. Its installed packages take precedence, except for headrace and
    cloudpickle; these, and packages that it lacks, come from the path of this process.
    """
    path = os.pathsep.join(p for p in sys.path if p)
    environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONSAFEPATH="1")
    ready, ready_slot = os.pipe()
    arguments = [str(folder), str(index), str(daemon), str(ready_slot)]
    if python is None:
        environment["PYTHONPATH"] = path
        command = [sys.executable, "-m", _SLOT, *arguments]
    else:
        environment["python"] = python
        environment.pop("PYTHONPATH", None)
        command = [python, "-c", _WITH_OTHER_PYTHON.format(slot=_SLOT), path, _VERSION, *arguments]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,
            pass_fds=(ready_slot,),
            env=environment,
        )
    except OSError as error:
        os.close(ready)
        text = f'Cannot run program "{command[0]}": {error}'  # not in the raise statement: tracebacks quote that line
        raise SlotStartError(text) from error
    finally:
        os.close(ready_slot)
    # The pipe closes without data if the process dies. Spark's own timeouts handle a process that hangs.
    with open(ready, "rb") as said:
        answer = said.read(8)
        if answer == READY:
            return
        if answer:
            version = answer.decode()
            raise SlotStartError(
                f"PYTHON_VERSION_MISMATCH: {command[0]} is Python {version}, the driver's is {_VERSION}"
            )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(START_SECONDS)
    raise SlotStartError(f"a slot process did not start (exit code {process.poll()}): {command[0]}")


def end_slots(job: Path) -> list[int]:
    """End all slots of a job on this machine, remove its folder `job`, and return the slots' process ids."""
    ended: dict[int, None] = {}
    deadline = time.monotonic() + CLOSE_SECONDS
    signalled: set[int] = set()
    while living := [(folder, pid) for folder in _executor_folders(job) for pid in living_slots(folder)]:
        late = time.monotonic() > deadline
        for folder, pid in living:
            mark_ending(folder)
            ended[pid] = None
            if pid and (late or pid not in signalled):
                signalled.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        if late and time.monotonic() > deadline + 1:
            break  # only a process that the slot forked still holds the mark
        time.sleep(_POLL_SECONDS)
    for folder in _executor_folders(job):
        remove_folder(folder)
    with contextlib.suppress(OSError):
        job.rmdir()
    return [pid for pid in ended if pid]


def _executor_folders(job: Path) -> list[Path]:
    return [folder for folder in entries(job) if folder.name.isdigit()]
