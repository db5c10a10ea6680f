"""Remote folders of state files: local paths as they are, all other URLs through fsspec.

Decides which URLs are local, and how files are copied to and from remote folders. Never decides which files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from headrace.errors import ConfigurationError, HeadraceError, InvalidProgramError, StateError, reason_of
from headrace.foundation import file_systems as common_storage

_BLOCK = 1 << 20
_UPLOAD_PAUSES = (0.1, 0.5)
"""Seconds between the attempts of an upload."""


class UploadError(StateError):
    """A file could not be copied to the checkpoint storage: the checkpoint fails, and no data is lost.

    >>> UploadError("No space").code
    'UPLOAD_FAILED'
    """

    code = "UPLOAD_FAILED"


def local_path(url: str) -> str | None:
    """Return the local path of a URL; None if it is not on a local (or mounted) file system.

    >>> local_path("file:///tmp/x"), local_path("/tmp/x"), local_path("s3://bucket/x")
    ('/tmp/x', '/tmp/x', None)
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return os.path.abspath(url.removeprefix("file:"))
    return os.path.abspath("/" + rest.lstrip("/")) if scheme == "file" else None


def join(url: str, *parts: str) -> str:
    """Return the URL of something below a URL.

    >>> join("s3://bucket/x/", "a", "b")
    's3://bucket/x/a/b'
    """
    return "/".join([url.rstrip("/"), *parts])


def file_system(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it."""
    try:
        return common_storage.file_system(url)
    except InvalidProgramError as error:
        raise ConfigurationError(
            f"The storage cannot be reached: {error.message}", seen=url, expected=error.expected, remedy=error.remedy
        ) from error


def upload(directory: str, name: str, url: str, new_name: str | None = None) -> None:
    """Copy a local file into a remote folder, part by part; retry a few times. Raise `UploadError` if all attempts fail."""
    for pause in (*_UPLOAD_PAUSES, None):
        try:
            system, path = file_system(url)
            system.put_file(os.path.join(directory, name), f"{path}/{new_name or name}")
            return
        except HeadraceError:
            raise
        except Exception as error:  # each file system has its own errors
            if pause is None:
                raise UploadError(
                    f"{name} could not be uploaded to {url}: {reason_of(error)}",
                    remedy="check the checkpoint storage; the upload is retried",
                ) from error
            time.sleep(pause)


def blocks(url: str, name: str) -> Iterator[bytes]:
    """Return the contents of a file in a folder, part by part."""
    local = local_path(url)
    if local is not None:
        opened = open(os.path.join(local, name), "rb")
    else:
        system, path = file_system(url)
        opened = system.open(f"{path}/{name}", "rb")
    with opened as stream:
        while block := stream.read(_BLOCK):
            yield block


def copy(source: str, name: str, target: str) -> None:
    """Copy a file of one folder into another one, part by part; at most one of them may be local."""
    local = local_path(source)
    if local is not None:
        upload(local, name, target)
        return
    system, path = file_system(target)
    with system.open(f"{path}/{name}", "wb") as stream:
        for block in blocks(source, name):
            stream.write(block)


def fetch(url: str, name: str, directory: str) -> None:
    """Copy a file of a remote folder into a local one, unless it exists."""
    final = os.path.join(directory, name)
    if os.path.exists(final):
        return
    system, path = file_system(url)
    try:
        system.get_file(f"{path}/{name}", f"{final}.part")
    except Exception as error:  # each file system has its own errors
        raise StateError(f"The state file {name} cannot be fetched from {url}: {reason_of(error)}") from error
    os.replace(f"{final}.part", final)
