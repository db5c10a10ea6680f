"""Any value as JSON data and back: JSON values stay readable, all others become pickles.

For values in manifests: positions of sources, staged output of sinks. Reading a pickle runs the job's own code, so only
a job that reads its own manifests may call `unpacked`.
"""

from __future__ import annotations

import base64
import math
from typing import Any

from headrace.state.safe_pickle import dump, load


def packed(value: Any) -> dict[str, Any]:
    """Return JSON data from which `unpacked` makes an equal value of the same types.

    >>> packed({"file": "part-1", "size": 3})
    {'json': {'file': 'part-1', 'size': 3}}
    >>> sorted(packed((1, 2)))
    ['codec', 'pickle']
    """
    if _is_json(value):
        return {"json": value}
    codec, data = dump(value)
    return {"codec": codec, "pickle": base64.b64encode(data).decode("ascii")}


def unpacked(data: dict[str, Any]) -> Any:
    """Return the value that was packed.

    >>> unpacked(packed((1, {2: b"x"})))
    (1, {2: b'x'})
    """
    if "json" in data:
        return data["json"]
    return load(data["codec"], base64.b64decode(data["pickle"]), allowed_modules=None, trust_job_code=True)


def _is_json(value: Any) -> bool:
    """Return whether JSON restores it exactly. Members of an IntEnum, for example, would become plain integers."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return all(map(_is_json, value))
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_json, value.values()))
    return value is None or kind in (str, int, bool)
