"""Read the body of a request: limit its size and time, and keep only the fields that the route knows. Write responses.

Every error has Flink's format.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import Response

from headrace.config.masking import masked_text
from headrace.service.errors import RequestError
from headrace.service.rest.endpoint import Call, Endpoint, File, Text

_LONGEST_LOG = 8 << 20
"""Only the end of a longer log is shown."""


def json_text(content: Any) -> str:
    """Return JSON. NaN and infinities become strings, as in Flink's responses.

    >>> json_text({"a": float("nan")})
    '{"a":"NaN"}'
    """
    try:
        return json.dumps(content, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_known_numbers(content), separators=(",", ":"))


def _known_numbers(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _known_numbers(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_known_numbers(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return "NaN" if math.isnan(content) else "Infinity" if content > 0 else "-Infinity"
    return content


def answer(content: Any, status: int) -> Response:
    """Return the response for the result of a route."""
    if isinstance(content, File):
        with content.path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _LONGEST_LOG))
            content = Text(masked_text(file.read().decode(errors="replace")))
    if isinstance(content, Text):
        return Response(content.content, status, media_type=content.media_type, headers=_SAFE)
    return Response(json_text(content), status, media_type="application/json; charset=UTF-8", headers=_SAFE)


def error_answer(status: int, *texts: str) -> Response:
    """Return the response for an error."""
    headers = {**_SAFE, **({"WWW-Authenticate": "Bearer"} if status == 401 else {})}
    content = json_text({"errors": [masked_text(text) for text in texts]})
    return Response(content, status, media_type="application/json; charset=UTF-8", headers=headers)


_SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


_LONGEST_JSON = 1 << 20
_JSON_SECONDS, _UPLOAD_SECONDS = 30.0, 600.0
_PIECE = 1 << 20


async def read_call(request: Request, endpoint: Endpoint[Any], longest_upload: int, folder: Path) -> Call:
    """Return the checked request. An uploaded file is stored in `folder`."""
    path = {name: str(value) for name, value in request.path_params.items()}
    known = {entry.name for entry in endpoint.query}
    query = {name: value for name, value in request.query_params.items() if name in known}
    if any("\0" in text for text in (*path.values(), *query.values())):
        raise RequestError("Bad request received: it contains a NUL character.")
    try:
        if endpoint.upload:
            upload = await asyncio.wait_for(_upload(request, folder / "content", longest_upload), _UPLOAD_SECONDS)
            return Call(path, query, {}, upload)
        content = await asyncio.wait_for(_whole(request), _JSON_SECONDS)
    except asyncio.TimeoutError:
        raise RequestError("The body did not arrive in time.", status=408) from None
    return Call(path, query, _fields(content, endpoint))


async def _pieces(request: Request, longest: int) -> AsyncGenerator[bytes, None]:
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > longest:
        raise RequestError(f"The body is too long: at most {longest} bytes are allowed.", status=413)
    length = 0
    async for piece in request.stream():
        length += len(piece)
        if length > longest:
            raise RequestError(f"The body is too long: at most {longest} bytes are allowed.", status=413)
        yield piece


async def _whole(request: Request) -> bytes:
    return b"".join([piece async for piece in _pieces(request, _LONGEST_JSON)])


def _fields(content: bytes, endpoint: Endpoint[Any]) -> dict[str, Any]:
    if endpoint.body is None or not content.strip():
        return endpoint.checked_body({})
    try:
        return endpoint.checked_body(json.loads(content))
    except (ValueError, RecursionError) as error:
        if isinstance(error, RequestError):
            raise
        raise RequestError("Bad request received: the body is not JSON.") from None


async def _upload(request: Request, target: Path, longest: int) -> tuple[str, Path] | None:
    """Return the file of a form, whatever its field is called; None if the form has none."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        await _whole(request)
        return None
    try:
        form = await MultiPartParser(request.headers, _pieces(request, longest), max_files=2, max_fields=20).parse()
    except (MultiPartException, KeyError, ValueError) as error:
        if isinstance(error, RequestError):
            raise
        raise RequestError("Bad request received: the form cannot be parsed.") from None
    try:
        files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
        if len(files) > 1:
            raise RequestError(f"Exactly 1 file must be sent, received {len(files)}.")
        if not files:
            return None
        with target.open("wb") as out:
            while piece := await files[0].read(_PIECE):
                out.write(piece)
        return files[0].filename or "", target
    finally:
        await form.close()
