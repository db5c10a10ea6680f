"""Definitions of sources are frozen: enumerators and readers keep what changes."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

import headrace.connectors
from headrace.connectors.base.source import Source


def definitions():
    for module in pkgutil.walk_packages(headrace.connectors.__path__, "headrace.connectors."):
        importlib.import_module(module.name)
    waiting, found = [Source], []
    while waiting:
        waiting += (derived := waiting.pop().__subclasses__())
        found += [one for one in derived if one.__module__.startswith("headrace.connectors")]
    return sorted(set(found), key=lambda one: one.__qualname__)


@pytest.mark.parametrize("definition", definitions(), ids=lambda definition: definition.__name__)
def test_a_definition_is_frozen(definition):
    assert dataclasses.is_dataclass(definition)
    assert definition.__dataclass_params__.frozen
