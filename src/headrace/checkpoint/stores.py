"""Opens the store of a job's checkpoints: on local files, or on any file system that fsspec knows.

Decides which store, whose signatures count, and where state files are checked. Called by the driver.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.model import FileEntry
from headrace.checkpoint.ports import Store
from headrace.checkpoint.remote_store import RemoteStore
from headrace.checkpoint.signed_records import SignedRecords
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.state import storage
from headrace.state.files import StateFile, problem_of


def open_store(job_id: str, root: str, options: DurabilitySettings, working_folder: str | None) -> Store:
    """Open the store below `root`, a folder or URL.

    `working_folder` holds the state files of a job without periodic checkpoints.
    """
    # Without a directory they are in this driver's own folder and end with it: a key of its own is enough.
    key = secrets.token_bytes(32) if options.directory is None else None
    records = SignedRecords(key, options.trust)
    path = storage.local_path(root)
    if path is None:
        return RemoteStore(root, job_id, records)

    def check_file(path: Path, entry: FileEntry) -> str | None:
        if not options.periodic and working_folder is not None:
            path = Path(working_folder, entry.name)
        return problem_of(path, StateFile(entry.name, entry.size, entry.checksum), job_id)

    return FileStore(path, job_id, check_file, records)
