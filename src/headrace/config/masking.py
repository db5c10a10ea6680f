"""Decide what is a secret. Values of keys that look like one are shown as stars, as in Flink."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "******"
_PARTS = (
    *("password", "passwd", "passphrase", "secret", "token", "api key", "credential", "private key", "auth params"),
    *("service key", "basic auth", "jaas config", "http headers", "account key", "access key", "connection string"),
)
"""Words that mark a key as secret; a space means any separator that keys are written with, or none."""
_WORD = "|".join(part.replace(" ", r"[-_.\ ]?") for part in _PARTS)
_KEY = re.compile(_WORD.replace(r"\ ", " "), re.IGNORECASE)
# Every repetition has a bound: a string that is one long word must not take quadratic time.
_ASSIGNMENT = re.compile(
    rf"""(?ix) ( (?: (?:{_WORD}) [\w.\-]{{0,60}} | \b(?:pwd|pass) ) ["']? \s{{0,9}} [=:] \s{{0,9}} )
    ( "(?:[^"\\\n]|\\.){{0,5000}}" | '(?:[^'\\\n]|\\.){{0,5000}}' | [^\s,;&}})\]"']+ )"""
)
_ARGUMENT = re.compile(rf"""(?ix) (\s --? [\w.\-]{{0,60}}? (?:{_WORD}) [\w.\-]{{0,60}} \s{{1,9}} ) ( [^\s\-]\S* )""")
_AUTHORIZATION = re.compile(r"(?i)\b((?:bearer|basic)\s{1,9})[\w.~+/=\-]{6,}")
_IN_ADDRESS = re.compile(r"(\b\w{1,60}://[^\s/:@]{0,200}:)[^\s/]{1,500}(@)")
_BEFORE_HOST = re.compile(r"""(?<![\w/.:@+\-])([\w.+\-]{1,100}:)[^\s/:@"'(),]{1,200}(@[\w\[])""")


def is_secret(key: str) -> bool:
    """Return whether the value of this key must not be shown.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("private_key"), is_secret("parallelism.default")
    (True, True, False)
    """
    return _KEY.search(key) is not None


def masked(configuration: Mapping[str, object]) -> dict[str, str]:
    """Return the configuration as others may see it.

    >>> masked({"s3.secret-key": "x", "a": 1, "url": "jdbc:pg://me:pw@host/db"})
    {'s3.secret-key': '******', 'a': '1', 'url': 'jdbc:pg://me:******@host/db'}
    """
    return {key: HIDDEN if is_secret(key) else masked_text(str(value)) for key, value in configuration.items()}


def masked_text(text: str) -> str:
    """Return a string, such as a line of a log, with the values after `password=` and the like masked.

    >>> masked_text("login with db.password=hunter2, user=me; Authorization: Bearer abc.def")
    'login with db.password=******, user=me; Authorization: Bearer ******'
    """
    text = _ASSIGNMENT.sub(rf"\g<1>{HIDDEN}", text)
    text = _ARGUMENT.sub(rf"\g<1>{HIDDEN}", text)
    text = _AUTHORIZATION.sub(rf"\g<1>{HIDDEN}", text)
    text = _IN_ADDRESS.sub(rf"\g<1>{HIDDEN}\g<2>", text)
    return _BEFORE_HOST.sub(rf"\g<1>{HIDDEN}\g<2>", text)
