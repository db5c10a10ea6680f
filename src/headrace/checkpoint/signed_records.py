"""Records as the stores keep them: manifests are signed, all others are not.

Decides which records need a signature: manifests, because their positions and staged output can contain pickles, and
because they vouch for the state files. A manifest without this user's signature is rejected before any part of it is used,
unless the job is configured to trust what it finds. Other records are plain values that never become objects.
"""

from __future__ import annotations

from headrace.checkpoint.errors import UntrustedStateError
from headrace.checkpoint.model import Manifest, Record
from headrace.checkpoint.record_format import decode, decode_manifest, encode
from headrace.checkpoint.signatures import signature_problem, signed_record, state_key


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
        """Return the bytes of a record."""
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
