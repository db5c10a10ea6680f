"""Aggregate calls for tests of operators."""

from __future__ import annotations

from headrace.graph.table_specs import AggregateSpec
from headrace.table.functions.definition import Argument, CallSite
from headrace.table.functions.registry import aggregate_function
from headrace.types import logical_types as t


def call(name, *columns, kinds=False, type=None, vectorised=True, **options):
    """A call over BIGINT columns, or columns of `type`."""
    function = aggregate_function(name)
    arguments = tuple(Argument(type or t.BigIntType()) for _ in columns)
    site = CallSite(arguments, function.infer(arguments).result)
    made = function.retracting(site) if kinds and function.retracting else function.rows(site)
    form = function.columns(site) if function.columns and vectorised else None
    return AggregateSpec(made, columns, columns=form, **options)
