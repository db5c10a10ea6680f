"""Quicker defaults for `json.loads` and `json.dumps` in slot processes: same results, same errors.

Streaming programs in Python parse and write JSON more than anything else. To decode, msgspec, which takes less than half the
time of the standard library, is tried first. To encode, the standard library's own C encoder is made once instead of at every
call, and does not look for circles. What these do not take (`NaN`, a broken text, a lone surrogate; a circle, a set) goes the
usual way, so the result or the error is the usual one. Only the module's defaults are replaced, so a program's own
decoders, encoders and hooks are what they were.
"""

from __future__ import annotations

import json
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

import msgspec

__all__ = ["QuickDecoder", "QuickEncoder", "use_quick_json"]

_quick = msgspec.json.Decoder().decode


class QuickDecoder(json.JSONDecoder):
    """Decodes as the standard library does, and sooner.

    >>> QuickDecoder().decode('{"a": [1, 2.5]}'), QuickDecoder().decode(" NaN ")
    ({'a': [1, 2.5]}, nan)
    """

    def decode(self, s: str, _w: Any = WHITESPACE.match) -> Any:
        """Gives the value of a text."""
        try:
            return _quick(s)
        except (ValueError, RecursionError, TypeError):
            return super().decode(s, _w)


class QuickEncoder(json.JSONEncoder):
    """Encodes as the standard library does without options, and sooner.

    >>> QuickEncoder().encode({"a": [1, 2.5, None]})
    '{"a": [1, 2.5, null]}'
    """

    def __init__(self) -> None:
        super().__init__()
        self._chunks = c_make_encoder(None, self.default, encode_basestring_ascii, None, ": ", ", ", False, False, True)

    def encode(self, o: Any) -> str:
        """Gives the text of a value."""
        if type(o) is dict or type(o) is list:
            try:
                return "".join(self._chunks(o, 0))
            except Exception:  # noqa: S110 - said again, as it is usually said
                pass
        return super().encode(o)


def use_quick_json() -> None:
    """Makes `json.loads` and `json.dumps` without options use them, if the module is as the standard library has it."""
    if type(getattr(json, "_default_decoder", None)) is json.JSONDecoder:
        json._default_decoder = QuickDecoder()  # type: ignore[attr-defined]  # noqa: SLF001
    if type(getattr(json, "_default_encoder", None)) is json.JSONEncoder and c_make_encoder is not None:
        json._default_encoder = QuickEncoder()  # type: ignore[attr-defined]  # noqa: SLF001
