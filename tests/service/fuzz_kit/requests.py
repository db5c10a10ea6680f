"""Make hostile requests: routes, and what is wrong with each request, are chosen by a seed.

The routes are read from the app, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import io
import json
import random
import re
import warnings
import zipfile
from dataclasses import dataclass
from typing import Any

__all__ = ["HostileRequests", "Request"]

ID = "0123456789abcdef" * 2
_VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "XYZ", "get", "G\x01T")
_NUMBERS = ("-1", "0", "9" * 40, "1e9", "1.5", "NaN", "0x10", "٣", "-0", "+1", "2147483648", "9223372036854775808")
_NAMES = (
    *("x", ID, ID.upper(), "Z" * 32, "0" * 3000, "%00", "a%00b", "%ff", "%", "é", "%c3%28", "{}", "%3Cscript%3E"),
    *("' OR 1=1", "a;b", "a b", ".", "..", "...", "%2e", "~", "*", "con", "-", "\\", "x.py", "null", "true"),
    *(f"{start}canary.txt" for start in ("../", "..%2f", "%2e%2e%2f", "%252e%252e%252f", "..%5c", "%2f", "....//")),
    *(f"{start}etc/passwd" for start in ("../" * 9, "..%2f" * 9, "/", "%2f", "file:%2f%2f%2f")),
)
_HEADERS = (
    ("Origin", "http://["), ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", ""), ("Origin", "\xff"),
    ("Host", "evil.example"), ("Host", "["), ("Host", ""), ("Host", "a" * 5000), ("Host", "localhost:99999999"),
    ("Content-Length", "-1"), ("Content-Length", "9" * 30), ("Content-Length", "x"), ("Content-Length", "5"),
    ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "gzip"), ("Expect", "100-continue"),
    ("Content-Type", "multipart/form-data"), ("Content-Type", "multipart/form-data; boundary="),
    ("Content-Type", "text/plain; charset=nope"), ("Content-Type", "\x00"), ("Content-Encoding", "gzip"),
    ("Accept", "x" * 3000), ("Accept", "application/json"), ("Cookie", "a=b;" * 500), ("Range", "bytes=0-99999999999"),
    ("If-None-Match", '"' * 500), ("If-Modified-Since", "yesterday"), ("If-Range", "x"), ("Connection", "upgrade"),
    ("Upgrade", "websocket"), ("Authorization", ""), ("Authorization", "Bearer"), ("Authorization", "Bearer \xff\xfe"),
    ("Authorization", "Basic Og=="), ("Sec-Fetch-Site", "cross-site"), ("X-Forwarded-Host", "evil"), ("Te", "\t"),
)  # fmt: skip
_KEYS = (
    *("parallelism", "programArgsList", "programArgs", "flinkConfiguration", "jobId", "savepointPath", "claimMode"),
    *("entryClass", "allowNonRestoredState", "savepoint-path", "target-directory", "targetDirectory", "cancel-job"),
    *("formatType", "triggerId", "drain", "checkpointType", "code", "restoreMode", "", "\0", ID),
)
_QUERIES = (
    *("parallelism", "get", "agg", "subtasks", "taskmanagers", "jobs", "maxExceptions", "failureLabelFilter", "mode"),
    *("program-args", "programArg", "entry-class", "savepointPath", "includeSerializedValue", "type", "x"),
)


@dataclass(frozen=True)
class Request:
    """The bytes of a request, and what it is for people to read."""

    name: str
    content: bytes
    complete: bool
    """Whether the service can know where it ends; of the others the sending side is closed."""


class HostileRequests:
    """An endless supply of them."""

    def __init__(self, routes: list[tuple[str, str]], token: str, seed: int) -> None:
        """`routes`: (verb, path) of the app; those that would end the service are the caller's to leave out."""
        self._routes = routes
        self._token = token
        self._choose = random.Random(seed)

    def next(self, real: dict[str, list[str]]) -> Request:
        """Return a request; `real` has names of things that are there, by the name of the path's variable."""
        choose = self._choose
        verb, path = choose.choice(self._routes)
        if verb == "HEAD" and choose.random() < 0.8:  # every GET has one
            verb = "GET"
        if choose.random() < 0.15:
            verb = choose.choice(_VERBS)
        target = re.sub(r"\{(\w+)\}", lambda found: self._name(found[1], real), path)
        if choose.random() < 0.4:
            pairs = [f"{choose.choice(_QUERIES)}={self._text()}" for _ in range(choose.choice((1, 1, 2, 50)))]
            target += "?" + "&".join(pairs)
        headers = {"Host": "127.0.0.1", "Content-Type": "application/json"}
        if choose.random() < 0.85:
            headers["Authorization"] = f"Bearer {self._token}"
        body = b""
        if path.endswith("/upload") and choose.random() < 0.8:
            headers["Content-Type"], body = self._form()
        elif verb not in ("GET", "HEAD") or choose.random() < 0.1:
            body = self._body()
        if body or verb not in ("GET", "HEAD"):
            headers["Content-Length"] = str(len(body))
        lines = [f"{name}: {value}" for name, value in headers.items()]
        complete = True
        if choose.random() < 0.25:
            name, value = choose.choice(_HEADERS)
            lines = [line for line in lines if not line.startswith(f"{name}:")] + [f"{name}: {value}"]
            complete = name not in ("Content-Length", "Transfer-Encoding", "Expect")
        if choose.random() < 0.05:
            lines += [f"X-{i}: {i}" for i in range(choose.choice((50, 500, 20_000)))]
        ending = choose.choice(("\r\n",) * 30 + ("\n", "\r", "\0\r\n"))
        version = choose.choice(("HTTP/1.1",) * 30 + ("HTTP/1.0", "HTTP/9.9", "", "SPDY"))
        head = ending.join([f"{verb} {target} {version}", *lines, "Connection: close", "", ""])
        content = head.encode("utf-8" if choose.random() < 0.5 else "latin-1", errors="replace") + body
        if choose.random() < 0.03:
            content, complete = content[: choose.randrange(len(content))], False
        return Request(f"{verb} {target}"[:200], content, complete and ending in ("\r\n", "\n"))

    def _name(self, kind: str, real: dict[str, list[str]]) -> str:
        choose = self._choose
        if kind in real and choose.random() < 0.7:
            return choose.choice(real[kind])
        return choose.choice(_NAMES if choose.random() < 0.7 else _NUMBERS)

    def _text(self) -> str:
        return self._choose.choice((*_NAMES, *_NUMBERS, "a," * 2000, "%0d%0aX:1", "0-9999999999", "1-0", ",,,"))

    def _value(self, depth: int = 0) -> Any:
        choose = self._choose
        kind = choose.randrange(9 if depth < 3 else 6)
        if kind < 2:
            return choose.choice(
                (*_NAMES, *_NUMBERS, "\0", "\ud800", "x" * 100_000, "/etc", "file:///etc", "s3://x/y", "")
            )
        if kind < 4:
            return choose.choice((-1, 0, 1, 2**31, 2**63, 10**30, 1.5, 1e308, True, False, None))
        if kind < 6:
            return choose.choice(([], {}, None, [None], [[]]))
        if kind == 6:
            return [self._value(depth + 1) for _ in range(choose.randrange(4))]
        return {choose.choice(_KEYS): self._value(depth + 1) for _ in range(choose.randrange(5))}

    def _body(self) -> bytes:
        choose = self._choose
        if choose.random() < 0.3:
            broken = (b"{", b"[]", b"null", b"1", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 10_000, b"NaN")
            return choose.choice((*broken, b"", b"\x80\x04.", b" " * 1_200_000, b'{"parallelism":1e999}', b'"\\ud800"'))
        fields = {choose.choice(_KEYS): self._value() for _ in range(choose.randrange(1, 6))}
        return json.dumps(fields).encode()

    def _form(self) -> tuple[str, bytes]:
        choose = self._choose
        name = choose.choice(("a.zip", "a.zip", "a.zip", "a.py", "../a.py", "a\0.py", '"; x="', "a" * 500 + ".py", ""))
        content = self._archive() if name.endswith(".zip") else b"raise SystemExit(3)"
        form = f'--b\r\nContent-Disposition: form-data; name="jarfile"; filename="{name}"\r\n\r\n'.encode() + content
        ending = choose.choice((b"\r\n--b--\r\n", b"\r\n--b--\r\n", b"\r\n--b\r\n", b"", b"\r\n--b\r\n\r\n" * 50))
        return f"multipart/form-data; boundary={choose.choice(('b', 'b', 'b', 'other', 'b' * 300))}", form + ending

    def _archive(self) -> bytes:
        choose, out = self._choose, io.BytesIO()
        places = (
            "a",
            "a/b",
            "a/",
            "headrace-files/a",
            "headrace-files/a/b",
            "../evil",
            "/etc/evil",
            "a\\b",
            "__main__.py",
            "n" * 900,
        )
        with warnings.catch_warnings(), zipfile.ZipFile(out, "w", choose.choice((0, zipfile.ZIP_DEFLATED))) as made:
            warnings.simplefilter("ignore")
            for _ in range(choose.randrange(1, 6)):
                made.writestr(choose.choice(places), bytes(choose.choice((0, 10, 100_000))))
        content = bytearray(out.getvalue())
        for _ in range(choose.choice((0, 0, 1, 20))):
            content[choose.randrange(len(content))] = choose.randrange(256)
        return bytes(content[: choose.choice((len(content), len(content), len(content) // 2))])
