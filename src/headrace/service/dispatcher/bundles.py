"""Programs that bring files along: the part of an uploaded zip that is no module is unpacked into the folder of the job."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from headrace.config.job_file_keys import BUNDLED, moved_settings
from headrace.service.errors import RequestError

__all__ = ["bundled_settings", "place_program"]


def place_program(stored: Path, job_folder: Path, name: str) -> None:
    """Puts an uploaded program into the folder of its job, with the files that it brings along beside it.

    Workers get the program as a module; they do not need the files a second time, so the copy is without them.
    """
    target = job_folder / "program" / name
    target.parent.mkdir()
    if not _bundled_names(stored):
        shutil.copyfile(stored, target)
        return
    with zipfile.ZipFile(stored) as bundle, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as modules:
        for entry in bundle.infolist():
            if entry.filename.startswith(BUNDLED):
                bundle.extract(entry, job_folder)  # the names were checked when it was uploaded
            elif not entry.is_dir():
                with bundle.open(entry) as source, modules.open(entry.filename, "w") as copy:
                    shutil.copyfileobj(source, copy)  # piece by piece: it may be much larger than the upload


def bundled_settings(settings: Mapping[str, str], stored: Path, job_folder: Path) -> dict[str, str]:
    """The settings of a job whose files will lie in its folder; raises if the upload does not have them."""
    names = _bundled_names(stored)

    def place(path: str) -> str:
        if not path.startswith(BUNDLED):
            return path
        if path not in names and f"{path}/" not in names:
            raise RequestError(f"Bad request received: the uploaded program has no {path[:200]!r}.")
        return str(job_folder / path)

    return moved_settings(settings, place)


def _bundled_names(stored: Path) -> set[str]:
    if stored.suffix != ".zip":
        return set()
    with zipfile.ZipFile(stored) as bundle:
        return {name for name in bundle.namelist() if name.startswith(BUNDLED)}
