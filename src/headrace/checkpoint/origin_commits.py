"""Finish the commits of the checkpoint that a job with another id starts from.

A driver that dies between a checkpoint's manifest and its marker leaves staged output that may not be committed. The
job itself commits it when it takes its checkpoints over (`headrace.checkpoint.recovery`). A job that is started from
their path reads its input after that output, so it commits it too:

1. A savepoint, or a checkpoint with a marker, has nothing left to commit.
2. Output of a sink that the program does not have is refused, or dropped if unclaimed state may be dropped.
3. Commit each handle with the program's sinks, under the id of the job that staged it: what a sink remembers of its
   commits is filed under that id.
4. Write the marker, unless something was dropped. Everyone who has committed all handles may write it.

Handles commit once however often they are asked for. So a job that is killed anywhere here starts again, and both jobs
may do this at the same time. Never claims the other job, seals a slot or aborts a handle.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from headrace.checkpoint.errors import CheckpointError, CommitRefusedError, StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.job_committer import JobCommitter
from headrace.checkpoint.manifests import IncompatibleStateError, operator_names
from headrace.checkpoint.model import Manifest
from headrace.checkpoint.no_sinks import NoSinks
from headrace.checkpoint.origin import Origin
from headrace.checkpoint.savepoints import has_open_commits
from headrace.checkpoint.store import Store
from headrace.checkpoint.workflow import Workflow
from headrace.connectors.base.commit_requests import CommitFailedError
from headrace.graph.job_graph import JobGraph
from headrace.state import storage

__all__ = ["finish_commits"]

_TRIES = 4
_FIRST_PAUSE = 0.05
_FINAL = (CommitRefusedError, CommitFailedError, IncompatibleStateError)
_log = logging.getLogger("headrace")


def finish_commits(origin: Origin, graph: JobGraph) -> None:
    """Commit what the job that wrote the origin has staged for it, with the sinks of this graph."""
    if not has_open_commits(origin):  # 1
        return
    manifest = origin.manifest
    committer = JobCommitter(manifest.job_id, graph)
    committer.generation = manifest.generation + 1  # none of it was staged by this driver
    try:
        claimed = _claimed(origin, committer)  # 2
        driver = Interpreter(_store(origin), committer, NoSinks())
        workflow = Workflow(manifest.job_id, uuid.uuid4().hex)
        workflow.generation = manifest.generation
        if not _committed(origin, lambda: driver.run(workflow.commit_all(claimed))) or claimed is not manifest:  # 3
            return
        try:
            driver.run(workflow.mark(manifest))  # 4
        except (StoreError, CheckpointError) as error:
            _log.warning("headrace: these commits are repeated if another job starts from there: %s", error.message)
    finally:
        committer.close()


def _claimed(origin: Origin, committer: JobCommitter) -> Manifest:
    """Return the manifest with the handles that this program's sinks can commit: itself, if these are all."""
    manifest = origin.manifest
    claimed = tuple(one for one in manifest.committables if one.sink in committer)
    if len(claimed) == len(manifest.committables):
        return manifest
    lost = operator_names(manifest, dict.fromkeys(c.sink for c in manifest.committables if c.sink not in committer))
    if not origin.ignore_unclaimed:
        raise IncompatibleStateError(
            f"The program has no sink for output of {lost} that was staged but not committed",
            seen=f"checkpoint {manifest.epoch} of job {manifest.job_id}, which ended before it had committed all output",
            remedy="give sinks the uid they had, or restore with allow-non-restored-state to drop that output.",
        )
    _log.warning("headrace: staged output of %s is dropped: the program has no sink for it", lost)
    return replace(manifest, committables=claimed)


def _committed(origin: Origin, commit: Callable[[], None]) -> bool:
    """Commit, in several tries; False: the job that staged the output has meanwhile committed all of it."""
    pause = _FIRST_PAUSE
    for left in reversed(range(_TRIES)):
        try:
            commit()
            return True
        except Exception as error:
            if not has_open_commits(origin):
                return False
            if not left or isinstance(error, _FINAL):
                raise
        time.sleep(pause)
        pause *= 4
    return False


def _store(origin: Origin) -> Store:
    assert origin.checkpoints is not None, "a savepoint has no open commits"
    path = storage.local_path(origin.checkpoints)
    if path is not None:
        return FileStore(path, origin.manifest.job_id)
    from headrace.checkpoint.remote_store import RemoteStore

    return RemoteStore(origin.checkpoints, origin.manifest.job_id)
