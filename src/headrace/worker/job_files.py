"""The files that a job ships: Python modules, archives, requirements, and the distributed cache.

The driver calls `gather_files`, which reads the configuration and packs the files. Small files travel with the job, so
workers on any machine have them. Large ones stay where they are and must be reachable from the workers, which
unpack all of them with `headrace.worker.unpacking`.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headrace.config.configuration import Configuration
from headrace.config.pipeline_keys import CACHED_FILES, PYTHON_ARCHIVES, PYTHON_FILES, PYTHON_REQUIREMENTS
from headrace.errors import ConfigurationError, JobExecutionError

LARGEST_SHIPPED = 64 << 20
"""Files and directories up to this many bytes travel with the job."""


@dataclass(frozen=True)
class JobFile:
    """A file or directory on the driver's machine. `content` is None if it is too large to travel."""

    path: str
    is_directory: bool
    content: bytes | None
    executable: bool = False

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return os.path.basename(self.path)

    def place(self, target: Path) -> None:
        """Create `target`: from `content` if it travelled, otherwise as a link to the original path."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.content is None:
            if not os.path.exists(self.path):
                raise JobExecutionError(
                    "A file of the job is too large to travel with it, and does not exist on this machine",
                    seen=self.path,
                    expected=f"at most {LARGEST_SHIPPED >> 20} MB, or a path that all machines can reach",
                )
            target.symlink_to(self.path)
        elif self.is_directory:
            with zipfile.ZipFile(io.BytesIO(self.content)) as packed:
                packed.extractall(target)
        else:
            target.write_bytes(self.content)
        if self.executable and self.content is not None:
            target.chmod(target.stat().st_mode | stat.S_IXUSR)


@dataclass(frozen=True)
class JobFiles:
    """All files that a job ships."""

    python_files: tuple[JobFile, ...] = ()
    archives: tuple[tuple[JobFile, str], ...] = ()
    """Each with the name of the directory to unpack it in."""
    requirements: JobFile | None = None
    packages: JobFile | None = None
    """A directory with the packages that the requirements name."""
    cached: dict[str, JobFile] = field(default_factory=dict)

    def has_in_archive(self, path: str | None) -> bool:
        """Return whether a relative path leads into an archive, such as `venv.zip/bin/python`."""
        return path is not None and any(path.startswith(f"{target}/") for _, target in self.archives)

    def __bool__(self) -> bool:
        return bool(self.python_files or self.archives or self.requirements or self.cached)


def gather_files(configuration: Configuration) -> JobFiles:
    """Return the files that the configuration names.

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
    """Parse Flink's form of a cached file, `name:...,path:...,executable:...`."""
    parts = dict(part.partition(":")[::2] for part in entry.split(","))
    if not parts.get("name") or not parts.get("path"):
        raise ConfigurationError(
            f"{CACHED_FILES.key} has an entry without a name or a path", seen=entry, expected="name:NAME,path:PATH"
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
