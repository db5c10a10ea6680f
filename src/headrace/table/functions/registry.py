"""All built-in functions by name. A module of this package defines some of them and is named in `_SCALARS` or `_AGGREGATES`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from headrace.table.functions.definition import AggregateFunction, ScalarFunction, TableFunction

_SCALARS: tuple[str, ...] = (
    "comparison",
    "logic",
    "arithmetic",
    "conditional",
    "conversion",
    "mathematics",
    "random_numbers",
    "numerals",
    "strings",
    "searching",
    "regexes",
    "like",
    "encodings",
    "urls",
    "printf",
    "json_queries",
    "json_writing",
    "values",
    "arrays",
    "maps",
    "temporal",
    "temporal_text",
    "clocks",
    "unsupported",
)
"""Modules of this package with a tuple `FUNCTIONS` of `ScalarFunction`; a name in it may have aliases in `ALIASES`."""
_AGGREGATES: tuple[str, ...] = (
    "aggregates.counts",
    "aggregates.sums",
    "aggregates.extremes",
    "aggregates.statistics",
    "aggregates.percentiles",
    "aggregates.chosen",
    "aggregates.collected",
    "aggregates.texts",
    "aggregates.json",
    "aggregates.ranks",
)
"""Modules of this package with a tuple `FUNCTIONS` of `AggregateFunction`."""
_TABLES: tuple[str, ...] = ("unnest",)
"""Modules of this package with a tuple `FUNCTIONS` of `TableFunction`."""


@cache
def scalar_functions() -> dict[str, ScalarFunction]:
    """Return all scalar functions by their upper-case names, with their aliases."""
    found: dict[str, ScalarFunction] = {}
    for name in _SCALARS:
        module = import_module(f"headrace.table.functions.{name}")
        by_name = {function.name: function for function in module.FUNCTIONS}
        found |= by_name
        found |= {alias: by_name[target] for alias, target in getattr(module, "ALIASES", {}).items()}
    return found


@cache
def aggregate_functions() -> dict[str, AggregateFunction]:
    """Return all aggregate functions by their upper-case names, with their aliases."""
    found: dict[str, AggregateFunction] = {}
    for name in _AGGREGATES:
        module = import_module(f"headrace.table.functions.{name}")
        by_name = {function.name: function for function in module.FUNCTIONS}
        found |= by_name
        found |= {alias: by_name[target] for alias, target in getattr(module, "ALIASES", {}).items()}
    return found


def scalar_function(name: str) -> ScalarFunction:
    """Return a scalar function by its name; raise KeyError if there is none."""
    return scalar_functions()[name]


def aggregate_function(name: str) -> AggregateFunction:
    """Return an aggregate function by its name; raise KeyError if there is none."""
    return aggregate_functions()[name]


@cache
def table_functions() -> dict[str, TableFunction]:
    """Return all table functions by their upper-case names."""
    modules = [import_module(f"headrace.table.functions.{name}") for name in _TABLES]
    return {function.name: function for module in modules for function in module.FUNCTIONS}


def table_function(name: str) -> TableFunction:
    """Return a table function by its name; raise KeyError if there is none."""
    return table_functions()[name]
