"""Start a program: in a separate process, with settings that its environments read, or in this one, for its plan.

For `headrace run` the driver is a child of the command and gets its signals. The command returns its exit code.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration
from headrace.config.configuration import Configuration
from headrace.config.pipeline_keys import FILE_KEYS, MODULES_KEY, moved_settings
from headrace.datastream.planning import PlanReached, planning_only
from headrace.errors import HeadraceError, InvalidProgramError
from headrace.graph.stream_graph import StreamGraph
from headrace.worker.job_files import JobFiles, gather_files
from headrace.worker.unpacking import unpack_files


def run_program(program: str, arguments: Sequence[str], settings: Mapping[str, str], quiet: bool) -> int:
    """Run a program to its end, and return its exit code: 128 plus the signal's number if a signal ended it.

    With `quiet`, its standard output goes to standard error.
    """
    with launched_environment(settings) as (environment, _):
        child = subprocess.Popen(
            [sys.executable, program, *arguments], env=environment, stdout=sys.stderr if quiet else None
        )
        with _forwarding_signals(child):
            code = _wait(child)
    return 128 - code if code < 0 else code


def _wait(child: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue  # the terminal sent it to the program too, which ends its job and itself


@contextmanager
def _forwarding_signals(child: subprocess.Popen[bytes]) -> Iterator[None]:
    def forward(number: int, _: Any) -> None:
        if child.poll() is None:
            child.send_signal(number)

    before = signal.signal(signal.SIGTERM, forward)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def launched_environment(settings: Mapping[str, str]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield the environment variables for a program with these settings, and its import paths (`-pyfs`)."""
    with tempfile.TemporaryDirectory(prefix="headrace-launch-") as folder:
        path = os.path.join(folder, "settings.json")
        write_configuration(path, settings)
        imports = import_paths(settings, Path(folder))
        environment = {**os.environ, CONFIGURATION_FILE_VARIABLE: path}
        if imports:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*imports, os.environ.get("PYTHONPATH")]))
        yield environment, imports


def import_paths(settings: Mapping[str, str], folder: Path) -> list[str]:
    """Unpack the files that functions import, so that the program can import them too, and return their paths."""
    named = {"python.files": settings["python.files"]} if settings.get("python.files") else {}
    files = gather_files(Configuration.from_dict(named)).python_files
    return list(unpack_files(JobFiles(python_files=files), folder / "files").import_paths)


def absolute_paths(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with absolute paths of files.

    >>> os.path.isabs(absolute_paths({"python.requirements": "r.txt#wheels"})["python.requirements"].split("#")[1])
    True
    """
    return moved_settings(settings, _absolute, (MODULES_KEY, *FILE_KEYS))


def _absolute(path: str) -> str:
    address = urlsplit(path)
    if address.scheme == "file":
        return unquote(address.path)
    return path if "://" in path else os.path.abspath(path)


def planned(program: str, arguments: Sequence[str] = ()) -> StreamGraph:
    """Run a program up to its first `execute()` and return the graph that it would have run.

    The program's output goes to standard error, so that the caller can use standard output.

    >>> import tempfile
    >>> text = '''
    ... from headrace.datastream import StreamExecutionEnvironment
    ... env = StreamExecutionEnvironment.get_execution_environment()
    ... env.from_collection([1]).print()
    ... env.execute("one")
    ... '''
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
    ...     _ = file.write(text) and file.flush()
    ...     planned(file.name).settings.job_name
    'one'
    """
    before = sys.argv, list(sys.path)
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).resolve().parent))
    try:
        with planning_only(), redirect_stdout(sys.stderr):
            runpy.run_path(program, run_name="__main__")
    except PlanReached as reached:
        return reached.graph
    except HeadraceError:
        raise
    except Exception as error:
        raise InvalidProgramError(
            "The program failed before its execute(), so it has no plan", seen=_traceback_of(program, error)
        ) from None
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
    raise InvalidProgramError(
        "The program ended without calling execute(), so it has no plan",
        seen=program,
        remedy="call env.execute() (or execute_async(), or execute_and_collect()) when the program runs as a script",
    )


def _traceback_of(program: str, error: Exception) -> str:
    """Return the traceback that `python PROGRAM` would show, without the frames of this command."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)).strip()
