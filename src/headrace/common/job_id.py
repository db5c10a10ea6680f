"""JobID: the id of a job, 128 bits shown as 32 hexadecimal digits.

Created once per submission; used in logs, REST paths and directories.
"""

from __future__ import annotations

import os
import re

from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import InvalidProgramError

__all__ = ["JobID"]
offer_pyflink_names(__name__)

_HEX = re.compile(r"[0-9a-f]{32}")


class JobID(NoJvmObject):
    """The id of a job.

    >>> print(JobID("7d85215526c85cdf061381304462af6b"))
    7d85215526c85cdf061381304462af6b
    >>> JobID() == JobID()
    False
    """

    __slots__ = ("_text",)

    def __init__(self, text: str | None = None) -> None:
        """Create an id from its 32 digits, or a random one."""
        self._text = os.urandom(16).hex() if text is None else text.lower()
        if not _HEX.fullmatch(self._text):
            raise InvalidProgramError("Invalid job id", seen=repr(text), expected="32 hexadecimal digits")

    def to_hex_string(self) -> str:
        """Return the 32 digits.

        >>> JobID("0" * 32).to_hex_string()
        '00000000000000000000000000000000'
        """
        return self._text

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, JobID) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"JobID({self._text!r})"
