"""Starting a program as a process of its own, with settings that its environments read.

Used by `headrace run`: the driver is a child of the command, gets its signals, and its exit code is the command's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration
from headrace.config.configuration import Configuration
from headrace.config.job_file_keys import FILE_KEYS, MODULES_KEY, moved_settings
from headrace.worker.job_files import JobFiles, gather_files
from headrace.worker.unpacking import unpack_files

__all__ = ["absolute_paths", "import_paths", "launched_environment", "run_program"]


def run_program(program: str, arguments: Sequence[str], settings: Mapping[str, str], quiet: bool) -> int:
    """Run a program to its end; give its exit code, 128 and the number of the signal if one ended it.

    With `quiet` its standard output goes to standard error.
    """
    with launched_environment(settings) as (environment, _):
        child = subprocess.Popen(
            [sys.executable, program, *arguments], env=environment, stdout=sys.stderr if quiet else None
        )
        with _passing_signals_on(child):
            code = _wait(child)
    return 128 - code if code < 0 else code


def _wait(child: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue  # the terminal has told the program, too: it ends its job and itself


@contextmanager
def _passing_signals_on(child: subprocess.Popen[bytes]) -> Iterator[None]:
    def pass_on(number: int, _: Any) -> None:
        if child.poll() is None:
            child.send_signal(number)

    before = signal.signal(signal.SIGTERM, pass_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def launched_environment(settings: Mapping[str, str]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Give the environment variables for a program with these settings, and what it shall import from (`-pyfs`)."""
    with tempfile.TemporaryDirectory(prefix="headrace-launch-") as folder:
        path = os.path.join(folder, "settings.json")
        write_configuration(path, settings)
        imports = import_paths(settings, Path(folder))
        environment = {**os.environ, CONFIGURATION_FILE_VARIABLE: path}
        if imports:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*imports, os.environ.get("PYTHONPATH")]))
        yield environment, imports


def import_paths(settings: Mapping[str, str], folder: Path) -> list[str]:
    """The program itself may import what its functions import: the same files, put on the path in the same way."""
    named = {"python.files": settings["python.files"]} if settings.get("python.files") else {}
    files = gather_files(Configuration.from_dict(named)).python_files
    return list(unpack_files(JobFiles(python_files=files), folder / "files").import_paths)


def absolute_paths(settings: Mapping[str, str]) -> dict[str, str]:
    """Give settings whose files are found from any working directory.

    >>> os.path.isabs(absolute_paths({"python.requirements": "r.txt#wheels"})["python.requirements"].split("#")[1])
    True
    """
    return moved_settings(settings, _absolute, (MODULES_KEY, *FILE_KEYS))


def _absolute(path: str) -> str:
    address = urlsplit(path)
    if address.scheme == "file":
        return unquote(address.path)
    return path if "://" in path else os.path.abspath(path)
