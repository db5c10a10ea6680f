"""Check and normalize the addresses of checkpoint and savepoint directories."""

from __future__ import annotations

from urllib.parse import urlsplit

from headrace.errors import InvalidProgramError

__all__ = ["normalized_path"]


def normalized_path(path: str, what: str) -> str:
    """Return the address of a directory like Flink shows it; the scheme is required.

    >>> normalized_path("file:///tmp/checkpoints/", "x"), normalized_path("hdfs://host:1/a", "x")
    ('file:/tmp/checkpoints', 'hdfs://host:1/a')
    """
    address = urlsplit(path)
    if not address.scheme:
        raise InvalidProgramError(
            "The scheme (hdfs://, file://, etc) is null. Please specify the file system scheme explicitly in the URI.",
            seen=path,
            expected=f"{what} such as file:///var/checkpoints",
        )
    host = f"//{address.netloc}" if address.netloc else ""
    folder = address.path.rstrip("/") or "/"
    if folder == "/" and not address.netloc:
        raise InvalidProgramError("Cannot use the root directory for checkpoints.", seen=path)
    return f"{address.scheme}:{host}{folder}"
