"""The tokens that clients present to the service: one that an administrator creates, or one per process.

`TokenFile` stores only the hash of a token. A token has 256 random bits, so one round of SHA-256 with a salt is enough.

Without a token file, a process creates a token when it starts, and notes it under the address where it listens, in a file
that only its user can read. The command line of the same user sends a token only to the address that it belongs to. A
program that takes over the port of a dead service therefore learns only a token that is no longer valid.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import stat
from pathlib import Path

from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import private_folder

_log = logging.getLogger("headrace.service")
_FORM = "sha256"


class TokenFile:
    """A file with the hash of the valid token.

    >>> import tempfile
    >>> file = TokenFile(Path(tempfile.mkdtemp()) / "token")
    >>> token = file.renew()
    >>> file.accepts(token), file.accepts("guess")
    (True, False)
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def renew(self) -> str:
        """Create a token, replace the valid one with it, and return it: it cannot be read later."""
        token, salt = secrets.token_urlsafe(32), secrets.token_hex(16)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(f"{_FORM}:{salt}:{_hash(salt, token)}\n")
        os.replace(temporary, self._path)
        return token

    def accepts(self, token: str) -> bool:
        """Return whether this is the token; takes the same time for every wrong one."""
        salt, expected = self._read()
        return hmac.compare_digest(_hash(salt, token), expected)

    def _read(self) -> tuple[str, str]:
        parts = self._path.read_text().strip().split(":")
        if len(parts) != 3 or parts[0] != _FORM:
            raise ConfigurationError(
                "The token file does not contain the hash of a token",
                seen=str(self._path),
                remedy="create one with `python -m headrace.service --new-token`",
            )
        return parts[1], parts[2]


def _hash(salt: str, token: str) -> str:
    return hashlib.sha256(f"{salt}:{token}".encode()).hexdigest()


def token_path(directory: Path, place: str) -> Path:
    """Return the token file of a process that listens at `place`, such as 127.0.0.1:8081."""
    return directory / "tokens" / place


def note_token(directory: Path, place: str) -> str:
    """Create a token, store it for the command line of the same user, and return it.

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
            "The token of the service cannot be written",
            seen=str(error),
            remedy="set headrace.service.dir to a directory that you own and can write to",
        ) from None
    return token


def noted_token(directory: Path, place: str) -> str | None:
    """Return the token of the process of this user that listens at `place`; None if there is none."""
    path = token_path(directory, place)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), encoding="ascii") as file:
            found = os.fstat(file.fileno())
            is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
            return file.read().strip() if is_own else None
    except (OSError, ValueError) as error:
        _log.debug("no token is noted for %s: %s", place, error)
        return None


def forget_token(directory: Path, place: str, token: str) -> None:
    """Remove the token of a process that ends, unless another process has taken its place."""
    if noted_token(directory, place) == token:
        token_path(directory, place).unlink(missing_ok=True)
