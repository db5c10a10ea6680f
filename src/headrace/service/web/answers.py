"""Convert the result of a route to an HTTP response. Every error has Flink's format."""

from __future__ import annotations

import json
import math
from typing import Any

from starlette.responses import Response

from headrace.config.masking import masked_text
from headrace.service.rest.endpoint import File, Text

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
