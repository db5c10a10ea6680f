"""Provide the files of a job to tasks in this process, and restore the process when the job ends."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from headrace.worker.job_files import JobFiles
from headrace.worker.unpacking import unpack_files


class FilesInProcess:
    """The import paths and working directory of one job."""

    def __init__(self) -> None:
        self.cached: dict[str, str] = {}
        self._folder: str | None = None
        self._import_paths: tuple[str, ...] = ()
        self._came_from: str | None = None

    def use(self, files: JobFiles) -> None:
        """Unpack the files and make them available."""
        if not files:
            return
        self._folder = tempfile.mkdtemp(prefix="headrace-files-")
        try:
            unpacked = unpack_files(files, Path(self._folder))
        except BaseException:
            self.leave()
            raise
        self.cached, self._import_paths = unpacked.cached, unpacked.import_paths
        sys.path[:0] = unpacked.import_paths
        if unpacked.working_directory is not None:
            self._came_from = os.getcwd()
            os.chdir(unpacked.working_directory)

    def leave(self) -> None:
        """Undo `use`; imported modules stay."""
        if self._folder is None:
            return
        sys.path[:] = [path for path in sys.path if path not in self._import_paths]
        if self._came_from is not None:
            os.chdir(self._came_from)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
