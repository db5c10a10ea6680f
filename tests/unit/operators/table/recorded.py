"""Builds specs from recorded cases: the operators' inputs, in order, and what Flink emitted for them."""

from headrace.graph import table_specs as s
from headrace.table.functions.definition import Argument, CallSite
from headrace.table.functions.registry import aggregate_function
from headrace.types import logical_types as t


class Less:
    """left[a] < right[b]; null is false."""

    def __init__(self, left, right):
        self.columns = left, right

    def pair(self, left, right):
        a, b = left[self.columns[0]], right[self.columns[1]]
        return a is not None and b is not None and a < b


def _aggregate(call, retracting):
    name, arguments, *more = call
    options = more[0] if more else {}
    function = aggregate_function(name)
    given = [Argument(t.BigIntType()) for _ in arguments]
    signature = function.infer(given)
    site = CallSite(tuple(given), signature.result)
    make = function.retracting if retracting and function.retracting is not None else function.rows
    return s.AggregateSpec(make(site), tuple(arguments), name=name, **options)


def _orders(orders):
    return tuple(s.SortOrder(column, descending, nulls_first) for column, descending, nulls_first in orders)


def _tuples(value):
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return value


def spec_of(case):
    """Return the spec of a case."""
    options = dict(case["spec"])
    kind = getattr(s, options.pop("operator"))
    for side in ("left", "right"):
        if side in options:
            options[side] = s.JoinSide(**{name: _tuples(value) for name, value in options[side].items()})
    if "condition" in options:
        options["condition"] = Less(*options["condition"])
    if "order_by" in options:
        options["order_by"] = _orders(options["order_by"])
    if "frame" in options:
        options["frame"] = s.OverFrame(*options["frame"])
    if "calls" in options:
        bounded = options["frame"].start is not None
        options["calls"] = tuple(_aggregate(call, bounded) for call in options["calls"])
    return kind(**{name: _tuples(value) for name, value in options.items()})


def keys_of(case):
    """Return the key columns of each input."""
    spec = case["spec"]
    if "left" in spec:
        return tuple(spec["left"]["keys"]), tuple(spec["right"]["keys"])
    return (tuple(spec.get("keys", ())),)


def steps_of(case):
    """Return the steps of a case as tuples."""
    return [_tuples(step) for step in case["steps"]]
