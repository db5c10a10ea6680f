"""URLs: their parts as `java.net.URL` sees them, and the encoding of forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote_plus, unquote_to_bytes

from headrace.table.functions.definition import ScalarFunction
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import STRING, TEXT, TYPED_STRING, always, nullable, signature

_PROTOCOLS = frozenset(("http", "https", "ftp", "file", "jar", "mailto"))
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_BAD_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})")


@dataclass(frozen=True)
class _Url:
    protocol: str
    authority: str | None
    user: str | None
    host: str
    path: str
    query: str | None
    ref: str | None


@lru_cache(maxsize=256)
def _parsed(text: str) -> _Url | None:
    """Return the parts of a URL, or None if it is malformed."""
    text = text.strip("".join(map(chr, range(33))))
    if text[:4].lower() == "url:":
        text = text[4:]
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[0][:-1].lower() not in _PROTOCOLS:
        return None
    rest, mark, ref = text[scheme.end() :].partition("#")
    found_ref = ref if mark else None
    rest, mark, query = rest.partition("?")
    found_query = query if mark else None
    authority = user = None
    host = ""
    path = rest
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
        user, at, host = authority.rpartition("@")
        if not at:
            user = None
        elif "@" in user:
            return None
        address, colon, port = (host, "", "") if host.endswith("]") else host.rpartition(":")
        if colon:
            if port and not re.fullmatch(r"\d+", port):
                return None
            host = address
        elif not address:
            host = port or host
    return _Url(scheme[0][:-1].lower(), authority, user, host, path, found_query, found_ref)


def _parse_url(text: str, part: str, key: str | None = None) -> str | None:
    url = _parsed(text)
    if url is None or (key is not None and part != "QUERY"):
        return None
    match part:
        case "HOST":
            return url.host
        case "PATH":
            return url.path
        case "QUERY":
            return url.query if key is None or url.query is None else _parameter(url.query, key)
        case "REF":
            return url.ref
        case "PROTOCOL":
            return url.protocol
        case "FILE":
            return url.path if url.query is None else f"{url.path}?{url.query}"
        case "AUTHORITY":
            return url.authority
        case "USERINFO":
            return url.user
    return None


def _parameter(query: str, key: str) -> str | None:
    found = re.search(f"(?:&|^){re.escape(key)}=([^&]*)", query)
    return found[1] if found is not None else None


def _encode(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def _decode(text: str) -> str | None:
    if _BAD_PERCENT.search(text) is not None:
        return None
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")


FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain(
        "PARSE_URL", signature(TYPED_STRING, TYPED_STRING, TYPED_STRING, result=nullable(TEXT), optional=1), _parse_url
    ),
    plain("URL_ENCODE", signature(STRING, result=always(TEXT)), _encode),
    plain("URL_DECODE", signature(STRING, result=always(TEXT)), _decode),
)
