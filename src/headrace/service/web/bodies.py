"""Read the body of a request: limit its size and time, and keep only the fields that the route knows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from headrace.service.errors import RequestError
from headrace.service.rest.endpoint import Call, Endpoint

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
