"""Store the jobs on disk, in a folder each. Everything known about a job is in its folder.

A program may bundle files in its zip archive. They are unpacked into the folder of the job.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from headrace.config.config_file import write_configuration
from headrace.config.job_file_keys import BUNDLED, moved_settings
from headrace.service.dispatcher.uploads import UNREADABLE
from headrace.service.errors import RequestError
from headrace.service.job_folder import JobFolder, Submission

_ID = re.compile("[0-9a-f]{32}")


class JobStore:
    """The folder that contains the jobs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def folders(self) -> list[JobFolder]:
        """Return all submitted jobs in no particular order."""
        found = [JobFolder(path) for path in self._root.iterdir() if _ID.fullmatch(path.name)]
        return [folder for folder in found if (folder.path / "job.json").is_file()]

    def add(self, submission: Submission, program: Path, configuration: Mapping[str, str]) -> JobFolder:
        """Record a job. Write `job.json` last: without it, the job does not exist."""
        folder = JobFolder(self._root / submission.job_id)
        try:
            os.mkdir(folder.path, 0o700)
        except FileExistsError:
            raise RequestError(f"Job {submission.job_id} has already been submitted.", status=409) from None
        try:
            _place_program(program, folder.path, submission.program)
            write_configuration(folder.configuration_file, configuration)
            folder.write(submission)
        except BaseException as error:
            self.forget(folder)
            if isinstance(error, UNREADABLE) and program.suffix == ".zip":
                raise RequestError(f"The archive cannot be unpacked: {error}.") from None
            raise
        return folder

    def forget(self, folder: JobFolder) -> None:
        shutil.rmtree(folder.path, ignore_errors=True)


def bundled_settings(settings: Mapping[str, str], stored: Path, job_folder: Path) -> dict[str, str]:
    """Return the settings with the paths of bundled files in the job's folder. Raise if the upload does not have them."""
    names = _bundled_names(stored)

    def place(path: str) -> str:
        if not path.startswith(BUNDLED):
            return path
        if path not in names and f"{path}/" not in names:
            raise RequestError(f"Bad request received: the uploaded program does not contain {path[:200]!r}.")
        return str(job_folder / path)

    return moved_settings(settings, place)


def _place_program(stored: Path, job_folder: Path, name: str) -> None:
    """Put an uploaded program into the folder of its job, with its bundled files beside it.

    The copy omits the bundled files: workers get the program as a module, and do not need the files a second time.
    """
    target = job_folder / "program" / name
    target.parent.mkdir()
    if not _bundled_names(stored):
        shutil.copyfile(stored, target)
        return
    with zipfile.ZipFile(stored) as bundle, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as modules:
        for entry in bundle.infolist():
            if entry.filename.startswith(BUNDLED):
                bundle.extract(entry, job_folder)  # its name was checked at the upload
            elif not entry.is_dir():
                with bundle.open(entry) as source, modules.open(entry.filename, "w") as copy:
                    shutil.copyfileobj(source, copy)  # in chunks: it may be much larger than the upload


def _bundled_names(stored: Path) -> set[str]:
    if stored.suffix != ".zip":
        return set()
    with zipfile.ZipFile(stored) as bundle:
        return {name for name in bundle.namelist() if name.startswith(BUNDLED)}
