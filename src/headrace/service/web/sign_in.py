"""Sign a browser in: a link that works once gets it its own token.

1. The command line, which has the service's token, requests a link: `POST /sign-in/links`.
2. The page takes the code from the link's fragment, which browsers never send, and exchanges it: `POST /sign-in`.
3. The page stores its token for its origin and sends it as a header. It is not a cookie on purpose: browsers send cookies
   to every port of a host, including servers of other users, and with requests that other pages make.

Codes and tokens exist only in memory and end with the process.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from headrace.service.web.bodies import answer, error_answer

SIGN_IN_PATH = "/sign-in"
_CODE_SECONDS = 600.0
_TOKEN_SECONDS = 7 * 86_400.0
_MOST = 200
_LONGEST_BODY, _BODY_SECONDS = 1000, 30.0


class SignIn:
    """Issues codes that work once, and exchanges them for tokens.

    >>> sign_in = SignIn()
    >>> token = sign_in.exchange(sign_in.new_code())
    >>> sign_in.accepts(token), sign_in.exchange("guess")
    (True, None)
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._codes: OrderedDict[bytes, float] = OrderedDict()
        self._tokens: OrderedDict[bytes, float] = OrderedDict()

    def new_code(self) -> str:
        """Return a code that can be exchanged once, within ten minutes."""
        return self._added(self._codes, _CODE_SECONDS)

    def exchange(self, code: str) -> str | None:
        """Return a token for a code; None if the code is unknown, used or expired."""
        with self._lock:
            ends = self._codes.pop(_digest(code), None)
        return self._added(self._tokens, _TOKEN_SECONDS) if ends is not None and ends > self._now() else None

    def accepts(self, token: str) -> bool:
        """Return whether this token was issued here and is still valid."""
        with self._lock:
            ends = self._tokens.get(_digest(token))
        return ends is not None and ends > self._now()

    def _added(self, known: OrderedDict[bytes, float], seconds: float) -> str:
        made = secrets.token_urlsafe(32)
        with self._lock:
            known[_digest(made)] = self._now() + seconds
            while len(known) > _MOST:
                known.popitem(last=False)
        return made


def _digest(text: str) -> bytes:
    """Return the digest: the time to look it up reveals nothing about the secret."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


def sign_in_routes(sign_in: SignIn | None) -> list[Route]:
    """Return the routes. Without `sign_in` no token is needed, and the link leads straight to the page."""

    async def links(request: Request) -> Response:
        if sign_in is None:
            return answer({"path": "/", "valid-seconds": None}, 200)
        return answer({"path": f"/#/sign-in/{sign_in.new_code()}", "valid-seconds": int(_CODE_SECONDS)}, 200)

    async def exchange(request: Request) -> Response:
        try:
            code = await asyncio.wait_for(_code(request), _BODY_SECONDS)
        except asyncio.TimeoutError:
            return error_answer(408, "The body did not arrive in time.")
        except ClientDisconnect:
            return error_answer(400, "The client disconnected.")
        token = None if sign_in is None else sign_in.exchange(code)
        if token is None:
            return error_answer(401, "This link was already used or has expired: `headrace ui` prints another.")
        return answer({"token": token}, 200)

    return [Route(f"{SIGN_IN_PATH}/links", links, methods=["POST"]), Route(SIGN_IN_PATH, exchange, methods=["POST"])]


async def _code(request: Request) -> str:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > _LONGEST_BODY:
            return ""
    try:
        return str(json.loads(content)["code"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
