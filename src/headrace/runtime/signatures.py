"""Signatures of savepoints: only what was written with the user's key is read as code-bearing data.

State may hold objects of the program's classes, and reading such objects runs code. A savepoint travels, so it carries a
file `_signature`: the SHA-256 of each of its files, and an HMAC of these with a key that stays with the user. The key is
made at the first savepoint, in a file that only the user can read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from headrace.common.errors import ConfigurationError, StateError

__all__ = ["SIGNATURE", "check_signature", "signed", "state_key"]

SIGNATURE = "_signature"
KEY_VARIABLE = "HEADRACE_STATE_KEY_FILE"
_KEY_BYTES = 32


def state_key() -> bytes:
    """The user's key; made if there is none yet."""
    path = Path(os.environ.get(KEY_VARIABLE) or Path.home() / ".config" / "headrace" / "state.key")
    try:
        if not path.exists():
            _make(path)
        key = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"The key for savepoints cannot be read or made: {error}",
            seen=str(path),
            remedy=f"name a file that can be written in the environment variable {KEY_VARIABLE}",
        ) from error
    if len(key) < _KEY_BYTES:
        raise ConfigurationError("The key for savepoints is too short", seen=str(path), expected=f"{_KEY_BYTES} bytes")
    return key


def _make(path: Path) -> None:
    """Whoever links first has made it; the file is never seen half written."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mine = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(mine, path)
        except FileExistsError:
            pass
    finally:
        mine.unlink()


def signed(digests: dict[str, str]) -> bytes:
    """The contents of `_signature` for files with these SHA-256 digests.

    >>> sorted(json.loads(signed({"_metadata": "00"})))
    ['files', 'hmac']
    """
    return json.dumps({"files": digests, "hmac": _hmac(digests)}, sort_keys=True).encode()


def check_signature(signature: bytes | None, digests: dict[str, str], path: str) -> None:
    """Refuses a savepoint that this user has not written, or that somebody has changed since."""
    problem = _problem(signature, digests)
    if problem is not None:
        raise StateError(
            f"The savepoint {path} is not trusted: {problem}",
            seen=path,
            remedy="if you know where it comes from, set headrace.state.trust: true; to use it on another machine,"
            f" bring the key along ({KEY_VARIABLE}).",
        )


def _problem(signature: bytes | None, digests: dict[str, str]) -> str | None:
    if signature is None:
        return "it has no signature"
    try:
        whole = json.loads(signature)
        listed, code = whole["files"], whole["hmac"]
        genuine = hmac.compare_digest(code, _hmac(listed))
    except (ValueError, KeyError, TypeError):
        return "its signature makes no sense"
    if not genuine:
        return "it was signed with another key, or its signature was changed"
    changed = sorted(name for name in listed.keys() | digests.keys() if listed.get(name) != digests.get(name))
    return f"{changed[0]} is not the file that was signed" if changed else None


def _hmac(digests: dict[str, str]) -> str:
    text = json.dumps(digests, sort_keys=True).encode()
    return hmac.new(state_key(), text, hashlib.sha256).hexdigest()
