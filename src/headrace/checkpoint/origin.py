"""What a job starts from: the manifest of a checkpoint or savepoint, and where its files are."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.checkpoint.model import Manifest

__all__ = ["Origin"]


@dataclass(frozen=True)
class Origin:
    """What a job starts from: a manifest and the folder of its files."""

    manifest: Manifest
    directory: str
    """A local path or a URL."""
    own: bool = True
    """Whether it is a checkpoint of this very job, in its own folder: its tasks may go on with the same files."""
    ignore_unclaimed: bool = False
    """Whether state that no operator of the program asks for is dropped without a word."""
    checkpoints: str | None = None
    """The folder (or URL) of another job's checkpoints that it is one of; None: a savepoint, or this very job's."""
