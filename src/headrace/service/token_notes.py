"""The token of each process that serves REST on this machine, in a file that only its user can read.

A process makes a new token when it starts, and notes it under the address where it listens. The command line of the same user
sends a token only to the address that it belongs to. A program that takes over the port of a service that has ended therefore
learns only a token that opens nothing.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import private_folder

__all__ = ["forget_token", "note_token", "noted_token", "token_path"]


def token_path(directory: Path, place: str) -> Path:
    """Return the file for a process that listens at `place`, such as 127.0.0.1:8081, below the directory of the service."""
    return directory / "tokens" / place


def note_token(directory: Path, place: str) -> str:
    """Make a token, write it down, and return it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> token = note_token(folder, "127.0.0.1:8081")
    >>> noted_token(folder, "127.0.0.1:8081") == token, noted_token(folder, "127.0.0.1:1")
    (True, None)
    """
    path, token = token_path(directory, place), secrets.token_urlsafe(32)
    try:
        private_folder(path.parent)
        temporary = path.with_name(f".{secrets.token_hex(8)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(temporary, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"{token}\n")
        os.replace(temporary, path)
    except OSError as error:
        raise ConfigurationError(
            "The token of the service cannot be written down",
            seen=str(error),
            remedy="set headrace.service.dir to a directory of your own that you can write to",
        ) from None
    return token


def noted_token(directory: Path, place: str) -> str | None:
    """Return the token of the process of this user that listens at `place`; None if there is no such note."""
    path = token_path(directory, place)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), encoding="ascii") as file:
            found = os.fstat(file.fileno())
            is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
            return file.read().strip() if is_own else None
    except (OSError, ValueError):
        return None


def forget_token(directory: Path, place: str, token: str) -> None:
    """Remove the note of a process that ends, unless another one has taken its place meanwhile."""
    if noted_token(directory, place) == token:
        token_path(directory, place).unlink(missing_ok=True)
