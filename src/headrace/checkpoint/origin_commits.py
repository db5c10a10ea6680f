"""Finish the commits of the checkpoint that a job with another id starts from.

A driver that dies between a checkpoint's manifest and its marker leaves staged output that may not be committed. The
job itself commits it when it takes its checkpoints over (`headrace.checkpoint.recovery`). A job that is started from
their path reads its input after that output, so it commits it too:

1. A savepoint, or a checkpoint with a marker, has nothing left to commit.
2. Output of a sink that the program does not have is refused, or dropped if unclaimed state may be dropped.
3. Settle: what was seen of the checkpoint must not vanish in a crash of the machine after its output is visible.
4. Commit each handle with the program's sinks, under the id of the job that staged it: what a sink remembers of its
   commits is filed under that id. If that fails, look for a marker: the job itself may live, and be faster.
5. Write the marker, unless something was dropped. Everyone who has committed all handles may write it. Take it back if
   the checkpoint has been removed since: a marker without a manifest looks like a lost checkpoint.

Handles commit once however often they are asked for. So a job that is killed anywhere here starts again, and both jobs
may do this at the same time. Never claims the other job, seals its log or aborts a handle.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.driver_steps import COMMIT_PAUSES, PERMANENT
from headrace.checkpoint.errors import CheckpointError, DamagedRecordError, RecordMissingError, StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.job_committer import JobCommitter, JobPublisher
from headrace.checkpoint.manifests import IncompatibleStateError, operator_names
from headrace.checkpoint.model import Manifest, Marker, Origin
from headrace.checkpoint.ports import Store
from headrace.checkpoint.remote_store import RemoteStore
from headrace.checkpoint.savepoints import has_open_commits
from headrace.checkpoint.steps import Steps
from headrace.checkpoint.workflow import Workflow
from headrace.errors import StateError
from headrace.graph.job_graph import JobGraph
from headrace.state import storage

_log = logging.getLogger("headrace")


def finish_commits(origin: Origin, graph: JobGraph, sleep: Callable[[float], None] = time.sleep) -> None:
    """Commit what the job that wrote the origin has staged for it, with the sinks of this graph."""
    if not has_open_commits(origin):  # 1
        return
    manifest = origin.manifest
    committer = JobCommitter(manifest.job_id, graph)
    committer.generation = manifest.generation + 1  # none of it was staged by this driver
    try:
        claimed = _claimed(origin, committer)
        publisher = JobPublisher(lambda positions: None, lambda manifest: None)
        Interpreter(_store(origin), committer, publisher, sleep).run(commit_steps(manifest, claimed))
    finally:
        committer.close()


def _claimed(origin: Origin, committer: JobCommitter) -> Manifest:
    """Number 2: return the manifest with the handles that this program's sinks can commit; itself, if these are all."""
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


def commit_steps(manifest: Manifest, claimed: Manifest) -> Steps[None]:
    """Numbers 3 to 5, on the store and the sinks of the job that wrote the manifest."""
    workflow = Workflow(manifest.job_id, uuid.uuid4().hex)
    workflow.generation = manifest.generation
    yield do.Settle()  # 3
    if not (yield from _exists(manifest)):
        raise StateError(
            "The checkpoint to restore from has been removed",
            seen=f"checkpoint {manifest.epoch} of job {manifest.job_id}",
            remedy="restore from its newest checkpoint or from a savepoint.",
        )
    for pause in (*COMMIT_PAUSES, None):  # 4
        try:
            yield from workflow.commit_all(claimed)
            break
        except Exception as error:
            if (yield from _is_marked(manifest)):
                return
            if pause is None or isinstance(error, PERMANENT):
                raise
            _log.warning("headrace: a commit is retried in %.2f s: %s", pause, error)
        yield do.Pause(pause)
    if claimed is not manifest:
        return
    try:
        yield from workflow.mark(manifest)  # 5
        if not (yield from _exists(manifest)):
            yield do.Delete(names.marker_name(manifest.epoch))
    except (StoreError, CheckpointError) as error:
        _log.warning("headrace: these commits are repeated if another job starts from there: %s", error.message)


def _exists(manifest: Manifest) -> Steps[bool]:
    log: list[str] = yield do.ListNames(names.LOG)
    return names.entry_name(manifest.epoch) in log


def _is_marked(manifest: Manifest) -> Steps[bool]:
    try:
        return isinstance((yield do.Read(names.marker_name(manifest.epoch))), Marker)
    except (RecordMissingError, DamagedRecordError):
        return False


def _store(origin: Origin) -> Store:
    assert origin.checkpoints is not None, "a savepoint has no open commits"
    path = storage.local_path(origin.checkpoints)
    store = RemoteStore if path is None else FileStore
    return store(path or origin.checkpoints, origin.manifest.job_id)
