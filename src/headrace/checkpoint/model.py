"""The records of the protocol and what an observer can see of a store. Frozen data, nothing else.

An *epoch* here is the number of a checkpoint. The *log* has at most one entry for each epoch: a `Manifest` (the checkpoint
exists) or a `Seal` (it never will: a later generation took over). Records are plain JSON data, so reading one runs no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from headrace.connectors.base.sink_committer import Handle


@dataclass(frozen=True)
class FileEntry:
    """A state file that a manifest lists; `owner` restores from it, such as ``vertex/subtask``.

    >>> FileEntry("v1/0", "v1-0-e0000000003-g0000000001-0.delta", 120, 77).size
    120
    """

    owner: str
    name: str
    size: int
    checksum: int


class Committable(NamedTuple):
    """Prepared output with the id of the operator whose committer knows what to do with it.

    >>> Committable("sink", Handle("g1-e3-0-a0", subtask=0, checkpoint=3, generation=1)).handle.checkpoint
    3
    """

    sink: str
    handle: Handle


@dataclass(frozen=True)
class Generation:
    """A driver's claim on the job. The highest one is the job's only master."""

    job_id: str
    generation: int
    attempt: str
    epoch: int = 0


@dataclass(frozen=True)
class Plan:
    """What an epoch is about to do. Information only: no decision depends on it."""

    job_id: str
    generation: int
    epoch: int
    attempt: str
    parent: int | None
    parallelism: Mapping[str, int] = field(default_factory=dict)
    positions: Mapping[str, Any] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """A checkpoint: everything that a restore needs. Its creation is the commit point.

    `positions` are those of the sources after this epoch. `files` are complete: a restore needs no other manifest.
    `committables` are what the sinks have prepared. `parent` is the epoch of the manifest that this one follows.
    """

    job_id: str
    generation: int
    epoch: int
    attempt: str
    parent: int | None
    files: tuple[FileEntry, ...] = ()
    committables: tuple[Committable, ...] = ()
    positions: Mapping[str, Any] = field(default_factory=dict)
    watermarks: Mapping[str, int] = field(default_factory=dict)
    parallelism: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the job's driver has to remember."""


@dataclass(frozen=True)
class Origin:
    """What a job starts from: a manifest, and the folder or URL of its files."""

    manifest: Manifest
    directory: str
    own: bool = True
    """Whether it is a checkpoint of this very job, in its own folder: its tasks may continue with the same files."""
    ignore_unclaimed: bool = False
    """Whether to drop state that no operator of the program claims."""
    checkpoints: str | None = None
    """The folder (or URL) of the other job's checkpoints that it is one of; None: a savepoint, or of this very job."""


@dataclass(frozen=True)
class Seal:
    """An epoch that never gets a manifest: the job continues from manifest `parent` (None: from the beginning)."""

    job_id: str
    generation: int
    epoch: int
    attempt: str
    parent: int | None


@dataclass(frozen=True)
class Marker:
    """Proof that all committables of the epoch's manifest are committed. It does not matter who wrote it."""

    job_id: str
    generation: int
    epoch: int
    attempt: str


Record: TypeAlias = Generation | Plan | Manifest | Seal | Marker


@dataclass(frozen=True)
class Damaged:
    """Something that exists and cannot be used."""

    name: str
    reason: str


@dataclass(frozen=True)
class Observation:
    """What a look at the store showed: claimed generations, the log, markers, and planned epochs.

    >>> Observation((1, 2)).newest_generation
    2
    """

    generations: tuple[int, ...] = ()
    log: Mapping[int, Manifest | Seal | Damaged] = field(default_factory=dict)
    markers: Mapping[int, Marker | Damaged] = field(default_factory=dict)
    planned: tuple[int, ...] = ()

    @property
    def newest_generation(self) -> int:
        """The highest claimed generation; 0 if there is none."""
        return max(self.generations, default=0)

    @property
    def last_epoch(self) -> int:
        """The epoch of the last entry in the log; 0 if there is none."""
        return max(self.log, default=0)
