"""Files that a job brings along: Python modules, archives, requirements, and the distributed cache.

1. Driver: `gather_files` reads the configuration, finds the files and packs them: small ones travel with the job, so that
   workers on any machine have them; large ones stay where they are and must be reachable from there.
2. Worker: `unpack_files` puts them into a folder, once for all slots of an executor, and says what to put on `sys.path`,
   where to work and where the cached files are.

The meaning of each is PyFlink's: a `.py` file can be imported by its name, directories and zip files are put on the path
as they are; with archives, the folder that they were unpacked in is the working directory.
"""

from __future__ import annotations

import fcntl
import io
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
from urllib.parse import unquote, urlsplit

from headrace.config.configuration import Configuration
from headrace.config.job_file_keys import CACHED_FILES, PYTHON_ARCHIVES, PYTHON_FILES, PYTHON_REQUIREMENTS
from headrace.errors import ConfigurationError, JobExecutionError

LARGEST_SHIPPED = 64 << 20
"""Files and directories up to this many bytes travel with the job."""
_DONE = "unpacked"
_PIP_SECONDS = 600.0


@dataclass(frozen=True)
class JobFile:
    """A file or directory of the driver's machine; `content` is None if it is too large to travel."""

    path: str
    is_directory: bool
    content: bytes | None
    executable: bool = False

    @property
    def name(self) -> str:
        """Its name without the way to it."""
        return os.path.basename(self.path)

    def place(self, target: Path) -> None:
        """Puts it at `target`: written from what has travelled, else linked to where it is."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.content is None:
            if not os.path.exists(self.path):
                raise JobExecutionError(
                    "A file of the job is larger than what travels with it, and is not on this machine",
                    seen=self.path,
                    expected=f"at most {LARGEST_SHIPPED >> 20} MB, or a path that all machines reach",
                )
            target.symlink_to(self.path)
        elif self.is_directory:
            with zipfile.ZipFile(io.BytesIO(self.content)) as packed:
                packed.extractall(target)  # noqa: S202 - packed by the job's own driver
        else:
            target.write_bytes(self.content)
        if self.executable and self.content is not None:
            target.chmod(target.stat().st_mode | stat.S_IXUSR)


@dataclass(frozen=True)
class JobFiles:
    """All files of a job."""

    python_files: tuple[JobFile, ...] = ()
    archives: tuple[tuple[JobFile, str], ...] = ()
    """Each with the name of the directory that it is unpacked in."""
    requirements: JobFile | None = None
    packages: JobFile | None = None
    """A directory with the packages that the requirements name."""
    cached: dict[str, JobFile] = field(default_factory=dict)

    def has_in_archive(self, path: str | None) -> bool:
        """Whether a relative path leads into an archive, such as `venv.zip/bin/python`."""
        return path is not None and any(path.startswith(f"{target}/") for _, target in self.archives)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.python_files or self.archives or self.requirements or self.cached)


@dataclass(frozen=True)
class UnpackedFiles:
    """What a worker does with them."""

    import_paths: tuple[str, ...] = ()
    """To be put before the others of `sys.path`."""
    working_directory: str | None = None
    cached: dict[str, str] = field(default_factory=dict)


# -- the driver's side ------------------------------------------------------------------------------------------------


def gather_files(configuration: Configuration) -> JobFiles:
    """The files that the configuration names.

    >>> bool(gather_files(Configuration()))
    False
    """
    requirements, _, packages = (configuration.get(PYTHON_REQUIREMENTS) or "").partition("#")
    archives = [entry.partition("#") for entry in _entries(configuration, PYTHON_ARCHIVES)]
    return JobFiles(
        python_files=tuple(_packed(path, PYTHON_FILES.key) for path in _entries(configuration, PYTHON_FILES)),
        archives=tuple(
            (_packed(path, PYTHON_ARCHIVES.key), target or os.path.basename(path)) for path, _, target in archives
        ),
        requirements=_packed(requirements, PYTHON_REQUIREMENTS.key) if requirements else None,
        packages=_packed(packages, PYTHON_REQUIREMENTS.key) if packages else None,
        cached=dict(_cached(entry) for entry in configuration.get(CACHED_FILES) or []),
    )


def _entries(configuration: Configuration, option: object) -> list[str]:
    text: str = configuration.get(option) or ""  # type: ignore[arg-type]
    return [entry for entry in text.split(",") if entry]


def _cached(entry: str) -> tuple[str, JobFile]:
    """`name:...,path:...,executable:...`; Flink's form of one cached file."""
    parts = dict(part.partition(":")[::2] for part in entry.split(","))
    if not parts.get("name") or not parts.get("path"):
        raise ConfigurationError(
            f"{CACHED_FILES.key} has an entry without name or path", seen=entry, expected="name:NAME,path:PATH"
        )
    return parts["name"], _packed(parts["path"], CACHED_FILES.key, parts.get("executable") == "true")


def _packed(path: str, key: str, executable: bool = False) -> JobFile:
    address = urlsplit(path)
    if address.scheme == "file":
        path = unquote(address.path)
    path = os.path.abspath(path)
    if not os.path.exists(path):
        raise ConfigurationError(f"{key} names a file that does not exist", seen=path)
    if not os.path.isdir(path):
        fits = os.path.getsize(path) <= LARGEST_SHIPPED
        return JobFile(path, False, Path(path).read_bytes() if fits else None, executable)
    files = sorted(file for file in Path(path).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    if sum(file.stat().st_size for file in files) > LARGEST_SHIPPED:
        return JobFile(path, True, None)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in files:
            archive.write(file, file.relative_to(path))
    return JobFile(path, True, packed.getvalue())


# -- the worker's side ------------------------------------------------------------------------------------------------


def unpack_files(files: JobFiles, folder: Path) -> UnpackedFiles:
    """Puts the files into `folder`, if nobody has done it yet, and says how to use them."""
    if not files:
        return UnpackedFiles()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _DONE).exists():
            _unpack(files, folder)
            (folder / _DONE).touch()
    imports = list(_import_paths(files, folder))
    return UnpackedFiles(
        import_paths=tuple(map(str, imports)),
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
            f"{PYTHON_ARCHIVES.key} names a file that is no archive",
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
    # Without an index pip finds nothing to build source packages with but what is installed.
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
            said = f"pip was not ready after {_PIP_SECONDS:.0f} s"
            continue
        if done.returncode == 0:
            return
        said = done.stderr.strip() or done.stdout.strip()
    raise JobExecutionError(
        f"The packages of {files.requirements.name} could not be installed:\n{said}",
        remedy="give a directory with the packages as the second argument of set_python_requirements, or install them "
        "in the environment of the workers",
    )
