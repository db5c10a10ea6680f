"""The secret that clients of the service show. Only its hash is kept.

A token has 256 random bits, so one round of SHA-256 with a salt is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from headrace.errors import ConfigurationError

__all__ = ["TokenFile"]

_FORM = "sha256"


class TokenFile:
    """A file with the hash of the one token that is valid.

    >>> import tempfile
    >>> file = TokenFile(Path(tempfile.mkdtemp()) / "token")
    >>> token = file.renew()
    >>> file.accepts(token), file.accepts("guess")
    (True, False)
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        """Whether there is a token."""
        return self._path.is_file()

    def renew(self) -> str:
        """Makes a new token, which is valid from now on, and gives it: nobody can read it later."""
        token, salt = secrets.token_urlsafe(32), secrets.token_hex(16)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(f"{_FORM}:{salt}:{_hash(salt, token)}\n")
        os.replace(temporary, self._path)
        return token

    def accepts(self, token: str) -> bool:
        """Whether this is the token; takes the same time for every wrong one."""
        salt, expected = self._read()
        return hmac.compare_digest(_hash(salt, token), expected)

    def _read(self) -> tuple[str, str]:
        parts = self._path.read_text().strip().split(":")
        if len(parts) != 3 or parts[0] != _FORM:
            raise ConfigurationError(
                "The token file does not hold the hash of a token",
                seen=str(self._path),
                remedy="make one with python -m headrace.service --new-token",
            )
        return parts[1], parts[2]


def _hash(salt: str, token: str) -> str:
    return hashlib.sha256(f"{salt}:{token}".encode()).hexdigest()
