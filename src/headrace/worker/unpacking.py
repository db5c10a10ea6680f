"""Unpack the files of a job in a worker, once for all slots of an executor.

The rules are PyFlink's: a `.py` file can be imported by its name, directories and zip files are put on the path as they
are; if there are archives, the folder with their contents is the working directory.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from headrace.config.pipeline_keys import PYTHON_ARCHIVES
from headrace.errors import ConfigurationError, JobExecutionError
from headrace.worker.job_files import JobFiles

_DONE = "unpacked"
_PIP_SECONDS = 600.0


@dataclass(frozen=True)
class UnpackedFiles:
    """Where a worker finds the files."""

    import_paths: tuple[str, ...] = ()
    """Put these at the front of `sys.path`."""
    working_directory: str | None = None
    cached: dict[str, str] = field(default_factory=dict)


def unpack_files(files: JobFiles, folder: Path) -> UnpackedFiles:
    """Put the files into `folder`, unless another process already did, and return where they are."""
    if not files:
        return UnpackedFiles()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _DONE).exists():
            _unpack(files, folder)
            (folder / _DONE).touch()
    return UnpackedFiles(
        import_paths=tuple(map(str, _import_paths(files, folder))),
        working_directory=str(folder / "archives") if files.archives else None,
        cached={name: str(folder / "cached" / name / file.name) for name, file in files.cached.items()},
    )


def _unpack(files: JobFiles, folder: Path) -> None:
    for number, file in enumerate(files.python_files):
        file.place(folder / "python" / str(number) / file.name)
    for file, target in files.archives:
        packed = folder / "packed" / file.name
        file.place(packed)
        _extract(packed, folder / "archives" / target)
        packed.unlink()
    for name, file in files.cached.items():
        file.place(folder / "cached" / name / file.name)
    if files.requirements is not None:
        _install(files, folder)


def _import_paths(files: JobFiles, folder: Path) -> Iterator[Path]:
    for number, file in enumerate(files.python_files):
        placed = folder / "python" / str(number) / file.name
        if placed.suffix == ".py":
            yield placed.parent
            continue
        yield placed
        if (placed / "__init__.py").exists():
            yield placed.parent
    if files.requirements is not None:
        yield folder / "requirements"


def _extract(packed: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(packed):
        with zipfile.ZipFile(packed) as archive:
            for entry in archive.infolist():
                path = archive.extract(entry, target)
                mode = entry.external_attr >> 16
                if stat.S_ISREG(mode):
                    os.chmod(path, stat.S_IMODE(mode) | stat.S_IRUSR)
    elif tarfile.is_tarfile(packed):
        with tarfile.open(packed) as archive:
            archive.extractall(target, filter="data")
    else:
        raise ConfigurationError(
            f"{PYTHON_ARCHIVES.key} names a file that is not an archive",
            seen=packed.name,
            expected="zip, tar, tar.gz, ...",
        )


def _install(files: JobFiles, folder: Path) -> None:
    assert files.requirements is not None
    listed = folder / "requirements.txt"
    files.requirements.place(listed)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--target", str(folder / "requirements"), "-r", str(listed)]
    if files.packages is not None:
        files.packages.place(folder / "packages")
        command += ["--no-index", "--find-links", str(folder / "packages")]
    # Without an index, pip can build source packages only with what is already installed.
    attempts = [command, [*command, "--no-build-isolation"]] if files.packages is not None else [command]
    said = ""
    for attempt in attempts:
        shutil.rmtree(folder / "requirements", ignore_errors=True)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        try:
            done = subprocess.run(
                attempt, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False, env=environment
            )
        except subprocess.TimeoutExpired:
            said = f"pip did not finish within {_PIP_SECONDS:.0f} s"
            continue
        if done.returncode == 0:
            return
        said = done.stderr.strip() or done.stdout.strip()
    raise JobExecutionError(
        f"The packages in {files.requirements.name} could not be installed:\n{said}",
        remedy="pass a directory that contains the packages as the second argument of set_python_requirements, or install "
        "them in the environment of the workers",
    )
