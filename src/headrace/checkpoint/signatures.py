"""Signatures of checkpoints and savepoints: only data that was written with the user's key may run code when it is read.

State, source positions and staged output can contain objects of the program's classes, and reading such objects runs code.
So they are read only if this user's own job has written them. The key is created when it is first needed, in a file that
only the user can read.

- A manifest in a checkpoint directory carries an HMAC of its bytes (`SignedRecords`); other records are not signed. It
  lists the state files with SHA-256 sums, so it vouches for them.
- A savepoint carries the file `_signature`: the SHA-256 of each of its files, and an HMAC of these (`signed`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from pathlib import Path

from headrace.checkpoint.errors import UntrustedStateError
from headrace.checkpoint.model import Manifest, Record
from headrace.checkpoint.record_format import decode, decode_manifest, encode, split, with_signature
from headrace.errors import ConfigurationError
from headrace.foundation.private_folders import make_folders, owner_only

SIGNATURE = "_signature"
KEY_VARIABLE = "HEADRACE_STATE_KEY_FILE"
_KEY_BYTES = 32
_RECORD = b"headrace record\n"
"""A prefix of what is signed, so that a signature of one kind cannot pass for one of the other."""


def state_key() -> bytes:
    """Return the user's key; create it if there is none yet."""
    path = Path(os.environ.get(KEY_VARIABLE) or Path.home() / ".config" / "headrace" / "state.key")
    try:
        if not path.exists():
            _make(path)
        with path.open("rb") as stream:
            found = os.fstat(stream.fileno())
            key = stream.read()
    except OSError as error:
        raise ConfigurationError(
            f"The key for checkpoints and savepoints cannot be read or created: {error}",
            seen=str(path),
            remedy=f"set the environment variable {KEY_VARIABLE} to the path of a writable file",
        ) from error
    if found.st_uid not in (os.getuid(), 0) or stat.S_IMODE(found.st_mode) & 0o022:
        raise ConfigurationError(
            "The key for checkpoints and savepoints could have been written by somebody else",
            seen=f"{path}: owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}",
            expected=f"owner {os.getuid()}, mode 0600",
        )
    if len(key) < _KEY_BYTES:
        raise ConfigurationError(
            "The key for checkpoints and savepoints is too short", seen=str(path), expected=f"{_KEY_BYTES} bytes"
        )
    return key


def _make(path: Path) -> None:
    """Create the key. If several processes try, the first link wins; nobody sees a half-written file."""
    make_folders(path.parent)
    mine = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(mine, "xb", opener=owner_only) as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(mine, path)
        except FileExistsError:
            pass
    finally:
        mine.unlink(missing_ok=True)


# -- records ----------------------------------------------------------------------------------------------------------


def signed_record(data: bytes, key: bytes) -> bytes:
    """Return a record's bytes with a signature in them.

    >>> from headrace.checkpoint.model import Manifest
    >>> from headrace.checkpoint.record_format import encode
    >>> data = signed_record(encode(Manifest("job", 1, 7, "a", None)), b"k" * 32)
    >>> signature_problem(data, b"k" * 32)
    >>> signature_problem(data, b"j" * 32)
    'it was signed with another key, or was changed since'
    """
    return with_signature(data, _record_hmac(split(data)[0], key))


def signature_problem(data: bytes, key: bytes) -> str | None:
    """Return why a record is not trusted; None if this user's job has written it."""
    line, signature = split(data)
    if signature is None:
        return "it has no signature"
    if not hmac.compare_digest(signature, _record_hmac(line, key)):
        return "it was signed with another key, or was changed since"
    return None


def _record_hmac(line: bytes, key: bytes) -> bytes:
    return hmac.new(key, _RECORD + line, hashlib.sha256).hexdigest().encode()


# -- savepoints -------------------------------------------------------------------------------------------------------


def signed(digests: dict[str, str]) -> bytes:
    """Return the content of `_signature` for files with these SHA-256 digests.

    >>> sorted(json.loads(signed({"_metadata": "00"})))
    ['files', 'hmac']
    """
    return json.dumps({"files": digests, "hmac": _hmac(digests)}, sort_keys=True).encode()


def check_signature(signature: bytes | None, digests: dict[str, str], path: str) -> None:
    """Reject a savepoint that this user has not written, or that was modified since."""
    problem = _problem(signature, digests)
    if problem is not None:
        raise UntrustedStateError(f"The savepoint {path}", problem)


def _problem(signature: bytes | None, digests: dict[str, str]) -> str | None:
    if signature is None:
        return "it has no signature"
    try:
        whole = json.loads(signature)
        listed, code = whole["files"], whole["hmac"]
        genuine = hmac.compare_digest(code, _hmac(listed))
    except (ValueError, KeyError, TypeError):
        return "its signature is invalid"
    if not genuine:
        return "it was signed with another key, or its signature was changed"
    changed = sorted(name for name in listed.keys() | digests.keys() if listed.get(name) != digests.get(name))
    return f"{changed[0]} is not the file that was signed" if changed else None


def _hmac(digests: dict[str, str]) -> str:
    text = json.dumps(digests, sort_keys=True).encode()
    return hmac.new(state_key(), text, hashlib.sha256).hexdigest()


class SignedRecords:
    """Records signed with one key, by default the user's. `trust` accepts manifests of anybody.

    >>> records = SignedRecords(b"k" * 32)
    >>> data = records.encode(Manifest("job", 1, 7, "a", None))
    >>> records.decode("slots/0000000007", data, "job").epoch
    7
    >>> SignedRecords(b"j" * 32).decode("slots/0000000007", data, "job")
    Traceback (most recent call last):
    ...
    headrace.checkpoint.errors.UntrustedStateError: The checkpoint slots/0000000007 is not trusted: it was signed with ...
    """

    def __init__(self, key: bytes | None = None, trust: bool = False) -> None:
        self._key = key
        self._trust = trust

    def encode(self, record: Record) -> bytes:
        data = encode(record)
        return signed_record(data, self._user_key()) if isinstance(record, Manifest) else data

    def decode(self, name: str, data: bytes, job_id: str) -> Record:
        """Return the record. Raise `DamagedRecordError`, or `UntrustedStateError` for a manifest of another user."""
        record = decode(name, data, job_id)
        if isinstance(record, Manifest):
            self._check(name, data)
        return record

    def decode_manifest(self, name: str, data: bytes) -> Manifest:
        """Return a manifest of any job; see `decode`."""
        manifest = decode_manifest(name, data)
        self._check(name, data)
        return manifest

    def _check(self, name: str, data: bytes) -> None:
        if self._trust:
            return
        problem = signature_problem(data, self._user_key())
        if problem is not None:
            raise UntrustedStateError(f"The checkpoint {name}", problem)

    def _user_key(self) -> bytes:
        if self._key is None:
            self._key = state_key()
        return self._key
