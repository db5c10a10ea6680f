"""Access control: how clients authenticate, by the settings; check Host, Origin and token before anything else.

1. Host must be an IP address or a name of this service. This stops DNS rebinding: another name that resolves to this host.
2. Origin, which browsers send, must be the service itself, so that other pages cannot misuse a user's browser.
3. Requests embedded in a page of another origin (Sec-Fetch-Site, Sec-Fetch-Mode) are rejected. Links to the service work.
4. If there is a token, everything except the files of the web UI and the sign-in needs it, because most responses contain
   code, data or settings.
"""

from __future__ import annotations

import getpass
import hmac
import ipaddress
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headrace.service.settings import ServiceSettings
from headrace.service.tokens import TokenFile, forget_token, note_token, token_path
from headrace.service.web.bodies import error_answer
from headrace.service.web.sign_in import SignIn

_FOREIGN = ("cross-site", "same-site")
"""Another port of this host is the same site, but may belong to another user."""
_UNKNOWN_CLIENT = (
    "This service needs a token. Send it in the header 'Authorization: Bearer ...'. The command line finds the token of "
    "your own service by itself; `headrace ui` prints a link that signs a browser in."
)


class AccessRules:
    """Accepts or rejects a request by its headers.

    >>> rules = AccessRules(names=["flows.example"], accepts=None)
    >>> rules.problem("GET", "/jobs", Headers({"host": "127.0.0.1:8081"}), public=False)
    >>> rules.problem("GET", "/jobs", Headers({"host": "evil.example"}), public=False)
    (403, 'The Host header names another service.')
    """

    def __init__(self, names: Iterable[str], accepts: Callable[[str], bool] | None) -> None:
        """Create rules for a service with these names; `accepts` checks a token, None if no token is needed."""
        self._names = {"localhost", socket.gethostname().lower(), *(name.lower() for name in names)}
        self._accepts = accepts
        self.sign_in = None if accepts is None else SignIn()
        """Issues tokens to browsers; None if no token is needed."""

    def problem(self, method: str, path: str, headers: Headers, public: bool) -> tuple[int, str] | None:
        """Return the status and message of a rejection; None if the request is allowed."""
        host = headers.get("host", "")
        if not self._is_own(host):
            return 403, "The Host header names another service."
        origin = headers.get("origin")
        if origin is not None and _place_of(origin) != host.lower():
            return 403, "The request comes from a page of another origin."
        if headers.get("sec-fetch-site") in _FOREIGN:
            embedded = headers.get("sec-fetch-mode", "navigate") != "navigate"
            if method not in ("GET", "HEAD") or (embedded and not public):
                return 403, "The request comes from a page of another site."
        if self._accepts is None or public:
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self._knows(token.strip()):
            return 401, _UNKNOWN_CLIENT
        return None

    def _knows(self, token: str) -> bool:
        accepted = self._accepts is not None and self._accepts(token)
        return accepted or (self.sign_in is not None and self.sign_in.accepts(token))

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self._names or _is_address(name)
        except ValueError:
            return False


def _place_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Access:
    """The ASGI middleware that enforces the rules."""

    def __init__(self, app: ASGIApp, rules: AccessRules, is_public: Callable[[str, str], bool]) -> None:
        self._app = app
        self._rules = rules
        self._is_public = is_public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
            problem = self._rules.problem(method, path, headers, self._is_public(method, path))
            if problem is not None:
                await error_answer(*problem)(scope, receive, send)
                return
        elif scope["type"] != "lifespan":
            return  # web sockets are not supported
        await self._app(scope, receive, send)


@dataclass(frozen=True)
class Guard:
    """The rules of a service, the line that describes them, and the cleanup when the service ends."""

    rules: AccessRules
    said: str
    is_open: bool
    """Whether every user of this machine has full access."""
    end: Callable[[], None] = lambda: None

    def link(self, url: str) -> str:
        """Return the address to open in a browser; it signs in once."""
        sign_in = self.rules.sign_in
        return f"{url}/" if sign_in is None else f"{url}/#/sign-in/{sign_in.new_code()}"


def guard_for(settings: ServiceSettings, listening: socket.socket) -> Guard:
    """Return the guard of a service that listens on this socket; create and note its token if it needs one."""
    host, port = listening.getsockname()[:2]
    names, url = [settings.address], settings.url(port)
    if settings.token_file is not None:
        said = (
            f"{url} requires the token whose hash is in {settings.token_file}; the command line reads the token from "
            "HEADRACE_TOKEN."
        )
        return Guard(AccessRules(names, TokenFile(settings.token_file).accepts), said, False)
    if settings.tls is not None and settings.tls.client_ca is not None:
        return Guard(AccessRules(names, None), f"{url} accepts only clients with a certificate.", False)
    if settings.authentication == "none":
        said = (
            f"{url} does not require a token (headrace.service.authentication: none): every user of this machine can run "
            f"programs as {_user()}, and read and cancel all jobs."
        )
        return Guard(AccessRules(names, None), said, True)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    token = note_token(settings.directory, place)
    said = (
        f"{url} requires a token: the command line of {_user()} reads it from {token_path(settings.directory, place)}, "
        "and `headrace ui` prints a link that signs a browser in."
    )
    rules = AccessRules(names, lambda shown: hmac.compare_digest(shown.encode(errors="replace"), token.encode()))
    return Guard(rules, said, False, lambda: forget_token(settings.directory, place, token))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, for example in containers
        return "this user"
