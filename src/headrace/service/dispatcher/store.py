"""The jobs on disk: a folder for each. What is known of a job is what is in its folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from headrace.config.config_file import write_configuration
from headrace.service.dispatcher.archives import UNREADABLE
from headrace.service.dispatcher.bundles import place_program
from headrace.service.errors import RequestError
from headrace.service.job_folder import JobFolder, Submission

__all__ = ["JobStore"]

_ID = re.compile("[0-9a-f]{32}")


class JobStore:
    """The folder of all jobs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def folders(self) -> list[JobFolder]:
        """All jobs that were submitted, in no order."""
        found = [JobFolder(path) for path in self._root.iterdir() if _ID.fullmatch(path.name)]
        return [folder for folder in found if (folder.path / "job.json").is_file()]

    def add(self, submission: Submission, program: Path, configuration: Mapping[str, str]) -> JobFolder:
        """Writes a job down. `job.json` comes last: without it there is no job."""
        folder = JobFolder(self._root / submission.job_id)
        try:
            os.mkdir(folder.path, 0o700)
        except FileExistsError:
            raise RequestError(f"Job {submission.job_id} has already been submitted.", status=409) from None
        try:
            place_program(program, folder.path, submission.program)
            write_configuration(folder.configuration_file, configuration)
            folder.write_submission(submission)
        except BaseException as error:
            self.forget(folder)
            if isinstance(error, UNREADABLE) and program.suffix == ".zip":
                raise RequestError(f"The archive cannot be unpacked: {error}.") from None
            raise
        return folder

    def forget(self, folder: JobFolder) -> None:
        """Removes a job that has ended, with its history."""
        shutil.rmtree(folder.path, ignore_errors=True)
