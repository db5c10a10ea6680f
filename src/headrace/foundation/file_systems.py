"""Access files in the local file system or any that fsspec supports, chosen by the scheme of the address.

Used by file sources and file sinks, in the driver and in tasks.
"""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import posixpath
import zlib
from typing import IO, Any, cast
from urllib.parse import unquote, urlsplit

from headrace.errors import InvalidProgramError, MissingExtraError
from headrace.foundation.extras import need

_HADOOP = ("hdfs", "viewfs")
_HADOOP_REMEDY = (
    "give host and port (hdfs://HOST:PORT/PATH), or set HADOOP_CONF_DIR; webhdfs://HOST:PORT/PATH works too"
)


def is_local(path: str) -> bool:
    """Return whether a path or address is in the local file system.

    >>> is_local("/tmp/a"), is_local("file:///tmp/a"), is_local("memory://a")
    (True, True, False)
    """
    scheme = urlsplit(path).scheme
    return len(scheme) <= 1 or scheme == "file"


def local_path(path: str) -> str:
    """Return the path in the local file system, also of a `file:` address.

    >>> local_path("file:///tmp/a%20b"), local_path("/tmp/a")
    ('/tmp/a b', '/tmp/a')
    """
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def file_system(path: str) -> tuple[Any, str]:
    """Return fsspec's file system for an address, and the path in it. Clears cached listings.

    Another process may have written files since, which a cached listing would hide.
    """
    fsspec = need("fsspec", "files", f"The file system of {path}")
    scheme = urlsplit(path).scheme
    if scheme in _HADOOP:
        _need_hadoop_client(scheme)
    try:
        found, inner = fsspec.core.url_to_fs(path)
    except ImportError as error:
        raise MissingExtraError(
            f"The file system of {path} needs another package: {str(error).partition(chr(10))[0]}",
            remedy="pip install 'headrace[s3]'" if scheme in ("s3", "s3a") else f"fsspec's package for {scheme!r}",
        ) from None
    except (ValueError, OSError, RuntimeError) as error:
        why = str(error).partition("\n")[0]
        raise InvalidProgramError(
            f"Paths with the scheme {scheme!r} cannot be used: {why}",
            seen=path,
            expected="a local path, or the address of a file system that fsspec knows",
            remedy=_HADOOP_REMEDY if scheme in _HADOOP else None,
        ) from None
    found.invalidate_cache()
    return found, inner


def _need_hadoop_client(scheme: str) -> None:
    """Fail early: without this client fsspec uses pyarrow's, which needs libhdfs and a JVM in every process."""
    if importlib.util.find_spec("hdfs_native") is None:
        raise MissingExtraError(
            f"Addresses that begin with {scheme}:// need the package hdfs-native",
            remedy="pip install 'headrace[hdfs]' on all machines; or pip install 'headrace[files]' requests and use "
            "webhdfs://HOST:PORT/PATH",
        )


def present(system: Any, path: str) -> bool:
    """Return whether a file system has a file. Raise if it does not respond, where fsspec's `exists` returns False.

    >>> present(file_system("memory://a")[0], "/no/such")
    False
    """
    try:
        system.info(path)
    except FileNotFoundError:
        return False
    return True


def open_input(path: str) -> IO[bytes]:
    """Open a file to read its bytes.

    >>> open_input("/no/such")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: '/no/such'
    """
    if is_local(path):
        return open(local_path(path), "rb")
    found, inner = file_system(path)
    return cast("IO[bytes]", found.open(inner, "rb"))


def file_size(path: str) -> int:
    """Return the number of bytes of a file as it is stored."""
    if is_local(path):
        return os.path.getsize(local_path(path))
    found, inner = file_system(path)
    return int(found.size(inner))


class _Inflating(io.RawIOBase):
    """A stream of zlib-compressed bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._inflate, self._rest = file, zlib.decompressobj(), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and not self._inflate.eof:
            block = self._file.read(1 << 16)
            self._rest = self._inflate.decompress(block) if block else self._inflate.flush()
            if not block:
                break
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _zstandard(file: IO[bytes]) -> Any:
    zstandard = need("zstandard", "files", "Reading .zst files")
    return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True))


_OPENERS: dict[str, Any] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".gzip": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".deflate": lambda file: io.BufferedReader(_Inflating(file)),
    ".zst": _zstandard,
}


def is_compressed(path: str) -> bool:
    """Return whether the extension of a name is that of a compressed file.

    >>> is_compressed("a.csv.gz"), is_compressed("a.csv")
    (True, False)
    """
    return posixpath.splitext(path)[1] in _OPENERS


def open_decompressed(path: str) -> IO[bytes]:
    """Open a file to read its uncompressed bytes; the extension of its name tells the compression.

    >>> import gzip, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".gz") as file:
    ...     size = file.write(gzip.compress(b"abc"))
    ...     file.flush()
    ...     open_decompressed(file.name).read()
    b'abc'
    """
    file = open_input(path)
    opener = _OPENERS.get(posixpath.splitext(path)[1])
    return file if opener is None else cast("IO[bytes]", opener(file))


def skip(file: IO[bytes], count: int) -> None:
    """Skip bytes of a file that may not be seekable.

    >>> import io
    >>> file = io.BytesIO(b"abcd")
    >>> skip(file, 2)
    >>> file.read()
    b'cd'
    """
    while count > 0:
        block = file.read(min(count, 1 << 20))
        if not block:
            return
        count -= len(block)
