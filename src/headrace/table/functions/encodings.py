"""Strings as codes and bytes: ASCII, CHR, BASE64, character sets, hashes, IP addresses, UUID."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from headrace.table.errors import SqlRuntimeError
from headrace.table.functions.column_forms import by_distinct
from headrace.table.functions.definition import Argument, ArgumentError, ScalarFunction, Signature
from headrace.table.functions.making import plain
from headrace.table.functions.signatures import (
    BINARY,
    INTEGER,
    INTEGER_TYPES,
    STRING,
    STRING_TYPES,
    TEXT,
    TYPED_STRING,
    always,
    either,
    family,
    nullable,
    nullable_if_any,
    signature,
)
from headrace.types.java_hash import double_hash, long_hash, string_hash
from headrace.types.logical_types import (
    BigIntType,
    BooleanType,
    CharType,
    DoubleType,
    IntType,
    VarBinaryType,
    VarCharType,
)

_CHARSETS = {"UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16", "UTF-16BE", "UTF-16LE"}
_SIGN = 128
_BYTE = 256
_PARTS = 4
_LAST_ADDRESS = 2**32 - 1


def _ascii(text: str) -> int:
    """Return the first byte in UTF-8, signed as a Java byte."""
    first = text[:1].encode()[0] if text else 0
    return first - _BYTE if first >= _SIGN else first


def _chr(code: int) -> str:
    return chr(code & (_BYTE - 1)) if code >= 0 else ""


def _charset(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        known = ", ".join(sorted(_CHARSETS))
        raise SqlRuntimeError(f"Unsupported character set {name!r}", remedy=f"use one of {known}") from None


def _encode(text: str, charset: str) -> bytes:
    codec = _charset(charset)
    if codec == "utf-16" and text:
        return b"\xfe\xff" + text.encode("utf-16-be")
    return text.encode("utf-16-be" if codec == "utf-16" else codec, "replace")


def _decode(data: bytes, charset: str) -> str:
    codec = _charset(charset)
    if codec == "utf-16" and not data.startswith((b"\xfe\xff", b"\xff\xfe")):
        codec = "utf-16-be"
    return data.decode(codec, "replace")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _to_base64(value: str | bytes) -> str:
    return base64.b64encode(_bytes(value)).decode()


def _from_base64(value: str | bytes) -> str:
    data = _bytes(value)
    unpadded = data.rstrip(b"=")
    try:
        padded = data if len(data) != len(unpadded) else data + b"=" * (-len(data) % 4)
        return base64.b64decode(padded, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise SqlRuntimeError(f"Cannot decode {data[:40]!r} from base 64: {error}") from None


def _hash(algorithm: str) -> Callable[[str | bytes], str]:
    return lambda value: hashlib.new(algorithm, _bytes(value), usedforsecurity=False).hexdigest()


def _sha2_infer(arguments: Sequence[Argument]) -> Signature:
    if len(arguments) > 1 and isinstance(arguments[1].value, int):
        _check_bits(arguments[1].value)
    return signature(_ANY_STRING, INTEGER, result=nullable_if_any(VarCharType(128)))(arguments)


def _check_bits(bits: int) -> None:
    if bits not in (224, 256, 384, 512):
        raise ArgumentError(f"SHA2 has no length of {bits} bits; use 224, 256, 384 or 512")


def _sha2(value: str | bytes, bits: int) -> str:
    if bits not in (224, 256, 384, 512):
        raise SqlRuntimeError(f"SHA2 has no length of {bits} bits", remedy="use 224, 256, 384 or 512")
    return _hash(f"sha{bits}")(value)


_HASHED = family(*STRING_TYPES, *INTEGER_TYPES, BooleanType, DoubleType, null=TEXT)


def _hash_code(value: str | int | float) -> int:
    """Return the hash code of a value in Java."""
    if isinstance(value, str):
        return string_hash(value)
    if isinstance(value, bool):
        return 1231 if value else 1237
    return double_hash(value) if isinstance(value, float) else long_hash(value)


def _inet_aton(address: str) -> int | None:
    """Return the number of an IPv4 address. With fewer than four parts the last one counts as it is."""
    parts = address.split(".")
    if len(parts) > _PARTS or not all(part.isascii() and part.isdigit() and int(part) < _BYTE for part in parts):
        return None
    *heads, last = map(int, parts)
    return sum(head << shift for head, shift in zip(heads, (24, 16, 8), strict=False)) | last


def _inet_ntoa(number: int) -> str | None:
    if not 0 <= number <= _LAST_ADDRESS:
        return None
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


_ANY_STRING = either(TYPED_STRING, BINARY)
_TEXT_IF_ANY = nullable_if_any(TEXT)


def _digest(name: str, algorithm: str, length: int) -> ScalarFunction:
    compute = _hash(algorithm)
    infer = signature(_ANY_STRING, result=nullable_if_any(CharType(length)))
    return plain(name, infer, compute, by_distinct(lambda site: compute))


def _new_uuid() -> Any:
    return str(uuid.uuid4())


FUNCTIONS: tuple[ScalarFunction, ...] = (
    plain("ASCII", signature(TYPED_STRING, result=nullable_if_any(IntType())), _ascii),
    plain("HASH_CODE", signature(_HASHED, result=nullable_if_any(IntType())), _hash_code),
    plain("CHR", signature(INTEGER, result=nullable(TEXT)), _chr),
    plain("ENCODE", signature(TYPED_STRING, TYPED_STRING, result=nullable_if_any(VarBinaryType())), _encode),
    plain("DECODE", signature(BINARY, TYPED_STRING, result=_TEXT_IF_ANY), _decode),
    plain("TO_BASE64", signature(_ANY_STRING, result=_TEXT_IF_ANY), _to_base64),
    plain("FROM_BASE64", signature(_ANY_STRING, result=_TEXT_IF_ANY), _from_base64),
    _digest("MD5", "md5", 32),
    _digest("SHA1", "sha1", 40),
    _digest("SHA224", "sha224", 56),
    _digest("SHA256", "sha256", 64),
    _digest("SHA384", "sha384", 96),
    _digest("SHA512", "sha512", 128),
    plain("SHA2", _sha2_infer, _sha2),
    plain("INET_ATON", signature(STRING, result=always(BigIntType())), _inet_aton),
    plain("INET_NTOA", signature(INTEGER, result=always(TEXT)), _inet_ntoa),
    plain("UUID", signature(result=always(CharType(36, is_nullable=False))), _new_uuid, deterministic=False),
)
