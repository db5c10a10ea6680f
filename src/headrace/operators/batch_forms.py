"""Well-known functions of the standard library that do a whole batch faster than record by record, with the same results.

`stream.map(json.loads)` is how most programs begin; two thirds of a call are the checks around the parser itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

BatchForm = Callable[[Iterable[Any]], list[Any]]


def batch_form(function: Callable[[Any], Any]) -> BatchForm:
    """What gives the results of a function for an iterable of records.

    It takes one record after the other, so that after an error the iterator tells which record it was.

    >>> batch_form(str.upper)(["a", "b"])
    ['A', 'B']
    >>> batch_form(json.loads)(['{"a": 1}', " [2] ", b"3"])
    [{'a': 1}, [2], 3]
    """
    if function is json.loads and json.loads.__module__ == "json":
        return _parse_all
    return lambda records: [function(record) for record in records]


def _parse_all(texts: Iterable[Any]) -> list[Any]:
    scan = json.JSONDecoder().scan_once
    parse = json.loads
    results: list[Any] = []
    append = results.append
    for text in texts:
        if type(text) is str:
            try:
                value, end = scan(text, 0)
            except (StopIteration, ValueError):  # blanks, a byte order mark, nothing, or nonsense
                pass
            else:
                if end == len(text):
                    append(value)
                    continue
        append(parse(text))
    return results
