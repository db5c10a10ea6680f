"""Secrets do not leave the process: values of keys that look like one are shown as stars, as Flink does."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["HIDDEN", "masked", "masked_text"]

HIDDEN = "******"
_PARTS = (
    *("password", "passwd", "secret", "token", "apikey", "api-key", "api_key", "credential", "private-key"),
    *("auth-params", "service-key", "basic-auth", "jaas.config", "http-headers", "fs.azure.account.key", "access-key"),
)
_WORD = "|".join(re.escape(part) for part in _PARTS)
_ASSIGNMENT = re.compile(
    rf"""(?ix) ( [\w.\-]* (?:{_WORD}) [\w.\-]* ["']? \s* [=:] \s* ) ( "[^"]*" | '[^']*' | [^\s,;}}\]]+ )"""
)
_BEARER = re.compile(r"(?i)(bearer\s+)[\w.~+/=\-]+")
_IN_ADDRESS = re.compile(r"(\w+://[^\s/:@]+:)[^\s/@]+(@)")


def is_secret(key: str) -> bool:
    """Whether the value of this key is nobody's business.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("parallelism.default")
    (True, False)
    """
    lowered = key.lower()
    return any(part in lowered for part in _PARTS)


def masked(configuration: Mapping[str, object]) -> dict[str, str]:
    """The configuration as others may see it.

    >>> masked({"s3.secret-key": "x", "a": 1, "url": "jdbc:pg://me:pw@host/db"})
    {'s3.secret-key': '******', 'a': '1', 'url': 'jdbc:pg://me:******@host/db'}
    """
    return {key: HIDDEN if is_secret(key) else masked_text(str(value)) for key, value in configuration.items()}


def masked_text(text: str) -> str:
    """A text, such as a log, without what follows `password=` and the like.

    >>> masked_text("login with db.password=hunter2, user=me; Authorization: Bearer abc.def")
    'login with db.password=******, user=me; Authorization: Bearer ******'
    """
    text = _ASSIGNMENT.sub(rf"\g<1>{HIDDEN}", text)
    text = _BEARER.sub(rf"\g<1>{HIDDEN}", text)
    return _IN_ADDRESS.sub(rf"\g<1>{HIDDEN}\g<2>", text)
