"""Decide from the settings how clients authenticate, and describe it in one line.

| settings | clients present |
| --- | --- |
| none, or `headrace.service.authentication: token` | the token that this process noted for its user |
| `headrace.service.token-file` | the token whose hash is in that file |
| `headrace.service.tls.client-ca` | a certificate |
| `headrace.service.authentication: none`, on loopback only | nothing |
"""

from __future__ import annotations

import getpass
import hmac
import socket
from collections.abc import Callable
from dataclasses import dataclass

from headrace.service.settings import ServiceSettings
from headrace.service.tokens import TokenFile, forget_token, note_token, token_path
from headrace.service.web.access import AccessRules


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
