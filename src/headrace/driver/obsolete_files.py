"""Deletes state files that no task needs any more, where checkpoints do not collect them."""

from __future__ import annotations

import logging
import os

from headrace.driver.current_job import CurrentJob

__all__ = ["delete_obsolete"]

_log = logging.getLogger("headrace")


def delete_obsolete(job: CurrentJob, checkpoints_decide: bool) -> None:
    """Delete what the ledger names as obsolete, except files that the job would restart from.

    `checkpoints_decide`: checkpoints count on these very files, so they decide what is garbage.
    """
    files, job.ledger.obsolete = job.ledger.obsolete, []
    if checkpoints_decide:
        return
    origin, directory = job.program.origin, job.state_directory
    needed = {f.name for f in origin.manifest.files} if origin is not None and origin.directory == directory else set()
    job.ledger.obsolete = [file for file in files if file.name in needed]
    for file in files:
        if file.name not in needed:
            try:
                os.unlink(os.path.join(directory, file.name))
            except OSError as error:
                _log.debug("headrace: %r keeps an obsolete state file: %s", job.name, error)
