"""Every public name of PyFlink is there, with PyFlink's parameters and defaults.

`tests/data/pyflink_surface.json` lists the names of PyFlink 2.3 and those of 1.15-1.20 that were removed since. What is
missing stands in `MISSING` with its reason; an entry that is no longer needed fails the test, so the list only shrinks.
"""

from __future__ import annotations

import importlib
import inspect
import json
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

SURFACE = json.loads((Path(__file__).parent.parent / "data" / "pyflink_surface.json").read_text())

CONNECTORS = "headrace has no such connector; importing the name says so"
INTERNAL = "an inner class of PyFlink that its documentation does not name"

MISSING = {
    "pyflink.datastream.window:WindowOperationDescriptor": INTERNAL,
    "pyflink.datastream.functions:Internal*": INTERNAL,
    "pyflink.datastream.connectors.cassandra:*": CONNECTORS,
    "pyflink.datastream.connectors.dynamic_kafka:*": CONNECTORS,
    "pyflink.datastream.connectors.elasticsearch:*": CONNECTORS,
    "pyflink.datastream.connectors.kinesis:*": CONNECTORS,
    "pyflink.datastream.connectors.pulsar:*": CONNECTORS,
    "pyflink.datastream.connectors:*Kafka*Service": CONNECTORS,
    "pyflink.datastream.connectors:DynamicKafka*": CONNECTORS,
    "pyflink.datastream.connectors:*Subscriber": CONNECTORS,
    "pyflink.datastream.connectors:SingleClusterTopicMetadataService": CONNECTORS,
    "pyflink.datastream.connectors:Pulsar*": CONNECTORS,
    "pyflink.datastream.connectors:*Cursor": CONNECTORS,
    "pyflink.datastream.connectors:SubscriptionType": CONNECTORS,
}

# Signatures that differ on purpose.
WRAPPED = "wraps no Java sink, which PyFlink's transformer prepares the elements for"
OTHER_PARAMETERS = {
    "pyflink.datastream.connectors.file_system:FileSink.__init__": WRAPPED,
    "pyflink.datastream.connectors.file_system:FileSink.get_transformer": WRAPPED,
    "pyflink.datastream.connectors.kafka:KafkaSink.__init__": WRAPPED,
    "pyflink.datastream.connectors.kafka:KafkaSink.get_transformer": WRAPPED,
    "pyflink.datastream.connectors.kafka:KafkaRecordSerializationSchema.__init__": WRAPPED,
    "pyflink.datastream.functions:SinkFunction.__init__": "a class to derive from: there is no Java sink to wrap",
    "pyflink.datastream.functions:SourceFunction.__init__": "a class to derive from: there is no Java source to wrap",
    "pyflink.datastream.stream_execution_environment:StreamExecutionEnvironment.__init__": "wraps no Java environment",
    "pyflink.datastream.data_stream:KeyedStream.__init__": "wraps no Java stream",
    "pyflink.datastream.data_stream:CachedDataStream.__init__": "wraps no Java stream",
    "pyflink.datastream.data_stream:CloseableIterator.__init__": "wraps no Java iterator",
}


def excused(name: str) -> list[str]:
    return [pattern for pattern in MISSING if fnmatchcase(name, pattern)]


def headrace_name(name: str) -> str:
    return "headrace" + name.removeprefix("pyflink")


def find(name: str) -> Any:
    """The object behind `package.module:Class.Inner`."""
    module, _, path = headrace_name(name).partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def module_names() -> list[str]:
    return [
        f"{module}:{name}"
        for module, names in SURFACE["modules"].items()
        for name, facts in names.items()
        if facts.get("listed", True)
    ]


@pytest.mark.parametrize("name", [n for n in module_names() if not excused(n)])
def test_name_can_be_imported(name: str) -> None:
    find(name)


@pytest.mark.parametrize("name", [n for n in SURFACE["classes"] if not excused(n)])
def test_class_has_the_members(name: str) -> None:
    problems = [
        problem
        for member, facts in SURFACE["classes"][name].items()
        for problem in member_problems(find(name), f"{name}.{member}", member, facts)
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", [n for n in SURFACE["functions"] if not excused(n)])
def test_function_has_the_parameters(name: str) -> None:
    problems = list(parameter_problems(find(name), name, SURFACE["functions"][name]["params"], bound=True))
    assert not problems, "\n".join(problems)


def test_no_excuse_is_left_over() -> None:
    for pattern in MISSING:
        names = [n for n in [*module_names(), *SURFACE["classes"], *SURFACE["modules"]] if fnmatchcase(n, pattern)]
        assert any(is_missing(n) for n in names), f"{pattern} is there: take it off the list"


def is_missing(name: str) -> bool:
    try:
        if ":" not in name:
            return set(SURFACE["modules"][name]) > set(dir(importlib.import_module(headrace_name(name))))
        found = find(name)
    except (ImportError, AttributeError):
        return True
    facts = SURFACE["classes"].get(name, {})
    return any(True for m, f in facts.items() for _ in member_problems(found, f"{name}.{m}", m, f))


def member_problems(owner: Any, name: str, member: str, facts: dict[str, Any]) -> list[str]:
    if name in OTHER_PARAMETERS:
        return []
    if member == "__init__":
        return list(parameter_problems(owner.__init__, name, facts["params"]))
    if not hasattr(owner, member):
        return [f"{name} is missing"]
    found = getattr(owner, member)
    kind = facts["kind"]
    if kind == "enum_member" and not (isinstance(found, Enum) and found.name == member):
        return [f"{name} is no member of an enumeration"]
    if kind == "attribute" and isinstance(facts.get("value"), (int, str)) and found != facts["value"]:
        return [f"{name} is {found!r}, not {facts['value']!r}"]
    if kind in ("method", "staticmethod", "classmethod"):
        bound = kind != "method"
        is_static = isinstance(inspect.getattr_static(owner, member), (staticmethod, classmethod))
        if is_static != bound:
            return [f"{name} is {'no' if bound else 'a'} static method"]
        return list(parameter_problems(found, name, facts["params"], bound))
    return []


def parameter_problems(function: Any, name: str, wanted: list[dict[str, Any]], bound: bool = False) -> list[str]:
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    if not bound:
        given = given[1:]
    problems = []
    by_name = {p.name: (i, p) for i, p in enumerate(given)}
    for index, parameter in enumerate(wanted):
        if parameter.get("jvm"):
            continue
        if parameter["name"] not in by_name:
            problems.append(f"{name}: parameter {parameter['name']} is missing")
            continue
        position, found = by_name[parameter["name"]]
        if position != index and not any(p.get("jvm") for p in wanted):
            problems.append(f"{name}: parameter {found.name} is at {position}, not {index}")
        if parameter.get("kind") == "var_positional" and found.kind is not inspect.Parameter.VAR_POSITIONAL:
            problems.append(f"{name}: parameter {found.name} does not take any number of arguments")
        if "default" in parameter and not same_default(parameter["default"], found.default):
            problems.append(f"{name}: the default of {found.name} is {found.default!r}, not {parameter['default']!r}")
    known = {p["name"] for p in wanted}
    extra = [
        p.name
        for p in given
        if p.name not in known
        and p.default is inspect.Parameter.empty
        and p.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if extra and not any(p.get("jvm") for p in wanted):
        problems.append(f"{name}: parameters {extra} must have defaults")
    return problems


def same_default(wanted: Any, found: Any) -> bool:
    if found is inspect.Parameter.empty:
        return False
    if isinstance(wanted, dict):
        return "enum" not in wanted or str(found) == wanted["enum"]
    return bool(wanted == found)
