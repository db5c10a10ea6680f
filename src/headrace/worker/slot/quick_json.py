"""Faster defaults for `json.loads` and `json.dumps` in slot processes: same results, same errors.

JSON is the most common format of streaming programs in Python. Decoding tries msgspec first, which takes less than half
the time of the standard library. Encoding creates the standard library's C encoder once instead of at every call, without
the check for circular references. Input that these reject (`NaN`, invalid JSON, a lone surrogate; a circular reference, a
set) falls back to the standard library, for the usual result or error. Only the module's defaults are replaced: a program's
own decoders, encoders and hooks are unaffected.
"""

from __future__ import annotations

import json
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

import msgspec

_quick = msgspec.json.Decoder().decode


class QuickDecoder(json.JSONDecoder):
    """Decodes like the standard library, but faster.

    >>> QuickDecoder().decode('{"a": [1, 2.5]}'), QuickDecoder().decode(" NaN ")
    ({'a': [1, 2.5]}, nan)
    """

    def decode(self, s: str, _w: Any = WHITESPACE.match) -> Any:
        """Return the value of a JSON string."""
        try:
            return _quick(s)
        except (ValueError, RecursionError, TypeError):
            return super().decode(s, _w)


class QuickEncoder(json.JSONEncoder):
    """Encodes like the standard library without options, but faster.

    >>> QuickEncoder().encode({"a": [1, 2.5, None]})
    '{"a": [1, 2.5, null]}'
    """

    def __init__(self) -> None:
        super().__init__()
        self._chunks = c_make_encoder(None, self.default, encode_basestring_ascii, None, ": ", ", ", False, False, True)

    def encode(self, o: Any) -> str:
        """Return the JSON string of a value."""
        if type(o) is dict or type(o) is list:
            try:
                return "".join(self._chunks(o, 0))
            except Exception:  # noqa: S110 - the fallback raises the usual error
                pass
        return super().encode(o)


def use_quick_json() -> None:
    """Make `json.loads` and `json.dumps` without options use them, unless something else replaced the defaults."""
    if type(getattr(json, "_default_decoder", None)) is json.JSONDecoder:
        json._default_decoder = QuickDecoder()  # type: ignore[attr-defined]  # noqa: SLF001
    if type(getattr(json, "_default_encoder", None)) is json.JSONEncoder and c_make_encoder is not None:
        json._default_encoder = QuickEncoder()  # type: ignore[attr-defined]  # noqa: SLF001
