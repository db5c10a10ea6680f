"""Records as the stores keep them: manifests signed, everything else as it is.

Decides which records need a signature: manifests, because positions and staged output in them can hold pickles, and
because they vouch for the state files. A manifest without this user's signature is refused before any part of it is used,
unless the job says that it trusts what it finds. The other records are plain values that never become objects.
"""

from __future__ import annotations

from headrace.checkpoint.errors import UntrustedStateError
from headrace.checkpoint.model import Manifest, Record
from headrace.checkpoint.record_format import decode, decode_manifest, encode
from headrace.checkpoint.signatures import signature_problem, signed_record, state_key

__all__ = ["SignedRecords"]


class SignedRecords:
    """Records signed with one key, the user's unless another one is given. `trust` accepts manifests of anybody.

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
        """Return the record's bytes."""
        data = encode(record)
        return signed_record(data, self._user_key()) if isinstance(record, Manifest) else data

    def decode(self, name: str, data: bytes, job_id: str) -> Record:
        """Return the record. Raise `DamagedRecordError`, or `UntrustedStateError` for a manifest of somebody else."""
        record = decode(name, data, job_id)
        if isinstance(record, Manifest):
            self._check(name, data)
        return record

    def decode_manifest(self, name: str, data: bytes) -> Manifest:
        """Return a manifest whose job is not known; see `decode`."""
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
