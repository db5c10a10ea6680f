"""The Table API has all names and parameters that PyFlink has."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest

from headrace.table import expressions

SURFACE = json.loads((Path(__file__).parents[3] / "data" / "table" / "api_surface.json").read_text())
EXCEPTIONS = {
    "from_changelog": "a process table function of Flink 2.3, planned with the others",
    "to_changelog": "a process table function of Flink 2.3, planned with the others",
    "map": "row-based operations come with user-defined aggregates",
    "flat_map": "row-based operations come with user-defined aggregates",
    "aggregate": "row-based operations come with user-defined aggregates",
    "flat_aggregate": "row-based operations come with user-defined aggregates",
}


def parameters(function: object) -> list[str]:
    found = inspect.signature(function).parameters  # type: ignore[arg-type]
    return [name for name in found if name not in ("self", "cls")]


@pytest.mark.parametrize("path", sorted(SURFACE["classes"]))
def test_members(path: str) -> None:
    module, name = path.split(":")
    cls = getattr(import_module(f"headrace.{module}"), name)
    for member, expected in SURFACE["classes"][path].items():
        found = inspect.getattr_static(cls, member, None)
        if found is None:
            assert name == "Table", f"{name}.{member} is missing"
            assert member in EXCEPTIONS, f"{name}.{member} is missing"
        elif expected == "property":
            assert isinstance(found, property), member
        elif isinstance(expected, list):
            assert parameters(getattr(cls, member)) == expected, member


@pytest.mark.parametrize("name", sorted(SURFACE["functions"]))
def test_functions(name: str) -> None:
    assert parameters(getattr(expressions, name)) == SURFACE["functions"][name]


def test_constants() -> None:
    assert all(hasattr(expressions, name) for name in SURFACE["constants"])


def test_all_names_are_listed() -> None:
    assert set(expressions.__all__) == set(SURFACE["functions"]) | set(SURFACE["constants"])
