"""Turn the results of user functions (None, a list, a generator, ...) into runs of records with timestamps.

Shared by the flat_map and process operators, which differ only in the arguments of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.operators.output import Output, Timestamps, Values


def expand(
    call: Callable[[Any], Any], records: Iterator[Any], timestamps: Timestamps, keys: list[Any] | None, backend: Any
) -> tuple[Values, Timestamps]:
    """Return the results of `call(record)`, each with its record's timestamp. Set `backend.key` if there is a backend.

    >>> expand(lambda v: v * [v], iter([1, 0, 2]), [10, 20, 30], None, None)
    ([1, 2, 2], [10, 30, 30])
    """
    results: Values
    if timestamps and timestamps[0] == timestamps[-1] and timestamps.count(timestamps[0]) == len(timestamps):
        results, _ = expand(call, records, None, keys, backend)  # the results of one window: one timestamp for all
        return results, timestamps[:1] * len(results)
    results = []
    extend = results.extend
    if backend is None:
        if timestamps is None:
            for v in records:
                r = call(v)
                if r is not None:
                    extend(r)
            return results, None
        times: list[int | None] = []
        for t, v in zip(timestamps, records):
            r = call(v)
            if r is not None:
                extend(r)
                times.extend([t] * (len(results) - len(times)))
        return results, times
    assert keys is not None
    turns = backend.in_turn(keys)
    if timestamps is None:
        for backend.key, v in zip(turns, records):
            r = call(v)
            if r is not None:
                extend(r)
        return results, None
    times = []
    for backend.key, t, v in zip(turns, timestamps, records):
        r = call(v)
        if r is not None:
            extend(r)
            times.extend([t] * (len(results) - len(times)))
    return results, times


def emit_tagged(output: Output, results: Values, times: Timestamps) -> None:
    """Emit results of a process function; send `(OutputTag, value)` pairs to their side outputs.

    The main output and each side output keep their order.
    """
    if not OutputTag.in_use or not any(type(r) is tuple and r and isinstance(r[0], OutputTag) for r in results):
        output.emit(results, times)
        return
    main: tuple[Values, list[int | None]] = ([], [])
    sides: dict[str, tuple[Values, list[int | None]]] = {}
    stamps = times if times is not None else [None] * len(results)
    for value, stamp in zip(results, stamps):
        if type(value) is tuple and value and isinstance(value[0], OutputTag):
            run = sides.setdefault(value[0].tag_id, ([], []))
            run[0].append(value[1])
        else:
            run = main
            run[0].append(value)
        run[1].append(stamp)
    output.emit(main[0], main[1] if times is not None else None)
    for tag_id, (values, side_times) in sides.items():
        output.emit_side(tag_id, values, side_times if times is not None else None)
