"""Paths into JSON documents: `$.store.book[*].author`, with filters, slices and deep scans.

`JsonPath.find` returns a value for a definite path. An indefinite path, which can meet several values, gives a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headrace.table.functions.json_filter import PathError, PathMissing, parse_filter, quoted_end

_NAME = re.compile(r"[^.\[\]()\s'\"?*,:]+")
_INDEXES = re.compile(r"-?\d+(?:\s*,\s*-?\d+)*")
_SLICE = re.compile(r"(-?\d+)?\s*:\s*(-?\d+)?(?:\s*:\s*(-?\d+)?)?")
_FUNCTION = re.compile(r"\.(length|size|min|max|avg|sum|stddev|keys|first|last|concat|append|index)\(\s*\)")


@dataclass(frozen=True)
class Step:
    """One step of a path. `kind`: name, names, index, indexes, slice, all, filter, deep, function."""

    kind: str
    value: Any = None


@dataclass(frozen=True)
class JsonPath:
    """A parsed path."""

    steps: tuple[Step, ...]

    @property
    def definite(self) -> bool:
        """Return whether the path can meet one value at most."""
        return all(step.kind in ("name", "names", "index", "function") for step in self.steps)

    def find(self, document: Any) -> Any:
        """Return the value at a definite path, or the list of values of any other; raise PathMissing if there is none."""
        if self.definite:
            value = document
            for step in self.steps:
                value = _one(value, step)
            return value
        function = self.steps[-1] if self.steps[-1].kind == "function" else None
        steps = self.steps[:-1] if function is not None else self.steps
        found = list(_walk(document, steps, document))
        return _one(found, function) if function is not None else found


def _one(value: Any, step: Step) -> Any:
    if step.kind == "function":
        return _applied(value, step.value)
    if step.kind == "name" and isinstance(value, dict):
        if step.value in value:
            return value[step.value]
    elif step.kind == "index" and isinstance(value, list) and -len(value) <= step.value < len(value):
        return value[step.value]
    elif step.kind == "names" and isinstance(value, dict):
        return {name: value[name] for name in step.value if name in value}
    raise PathMissing(f"Missing property or element {step.value!r}")


def _applied(value: Any, function: str) -> Any:
    if function in ("length", "size"):
        if isinstance(value, (list, dict)):
            return len(value)
        return len(value) if isinstance(value, str) else None
    if function == "keys":
        return list(value) if isinstance(value, dict) else None
    if not isinstance(value, list) or not value:
        raise PathMissing(f"{function}() needs an array with elements")
    if function in ("first", "last"):
        return value[0 if function == "first" else -1]
    numbers = [float(each) for each in value if isinstance(each, (int, float)) or hasattr(each, "as_tuple")]
    if not numbers:
        raise PathMissing(f"{function}() needs numbers")
    mean = sum(numbers) / len(numbers)
    match function:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "sum":
            return sum(numbers)
        case "avg":
            return mean
    return (sum((each - mean) ** 2 for each in numbers) / len(numbers)) ** 0.5


def _walk(value: Any, steps: tuple[Step, ...], root: Any) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step.kind == "deep":
        for each in _descendants(value):
            yield from _walk(each, rest, root)
        return
    for each in _children(value, step, root):
        yield from _walk(each, rest, root)


def _descendants(value: Any) -> Iterator[Any]:
    yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _descendants(each)


def _children(value: Any, step: Step, root: Any) -> Iterator[Any]:
    """Iterate over the values one step further; a value of the wrong kind has none."""
    match step.kind, value:
        case "all", dict():
            yield from value.values()
        case "all", list():
            yield from value
        case "name", dict():
            if step.value in value:
                yield value[step.value]
        case "names", dict():
            yield {name: value[name] for name in step.value if name in value}
        case "index", list():
            if -len(value) <= step.value < len(value):
                yield value[step.value]
        case "indexes", list():
            yield from (value[index] for index in step.value if -len(value) <= index < len(value))
        case "slice", list():
            yield from value[slice(*step.value)]
        case "filter", list():
            yield from (each for each in value if step.value.test(each, root))
        case "filter", dict():
            if step.value.test(value, root):
                yield value


@lru_cache(maxsize=256)
def parse_path(text: str) -> JsonPath:
    """Parse a path; raise PathError if it is malformed.

    >>> parse_path("$.a['b'][0]").find({"a": {"b": [7]}})
    7
    >>> parse_path("$..x").find([{"x": 1}, {"y": {"x": 2}}])
    [1, 2]
    """
    text = text.strip()
    if not text.startswith(("$", "@")):
        text = f"$.{text}"
    if text.endswith((".", "..")):
        raise PathError(f"A path must not end with a dot: {text!r}")
    steps: list[Step] = []
    at = 1
    while at < len(text):
        at = _parse_step(text, at, steps)
    return JsonPath(tuple(steps))


def _parse_step(text: str, at: int, steps: list[Step]) -> int:
    if (match := _FUNCTION.match(text, at)) is not None:
        steps.append(Step("function", match[1]))
        return match.end()
    if text.startswith("..", at):
        steps.append(Step("deep"))
        at += 2
        return at if text.startswith("[", at) else _parse_name(text, at, steps)
    if text[at] == ".":
        return at + 1 if text.startswith("[", at + 1) else _parse_name(text, at + 1, steps)
    if text[at] == "[":
        return _parse_bracket(text, at, steps)
    raise PathError(f"Unexpected {text[at]!r} at {at} in the path {text!r}")


def _parse_name(text: str, at: int, steps: list[Step]) -> int:
    if text.startswith("*", at):
        steps.append(Step("all"))
        return at + 1
    match = _NAME.match(text, at)
    if match is None:
        raise PathError(f"Expected a name at {at} in the path {text!r}")
    steps.append(Step("name", match[0]))
    return match.end()


def _parse_bracket(text: str, start: int, steps: list[Step]) -> int:
    at = start + 1
    while text.startswith(" ", at):
        at += 1
    if text.startswith("?", at):
        found, end = parse_filter(text, at + 1, parse_path)
        steps.append(Step("filter", found))
        return _closed(text, end)
    if text.startswith(("'", '"'), at):
        names: list[str] = []
        while text.startswith(("'", '"'), at):
            end = quoted_end(text, at)
            names.append(re.sub(r"\\(.)", r"\1", text[at + 1 : end]))
            at = end + 1
            while text.startswith((" ", ","), at):
                at += 1
        steps.append(Step("name", names[0]) if len(names) == 1 else Step("names", tuple(names)))
        return _closed(text, at)
    end = text.find("]", at)
    inside = text[at:end].strip() if end >= 0 else ""
    if inside == "*":
        steps.append(Step("all"))
    elif _INDEXES.fullmatch(inside):
        indexes = tuple(int(each) for each in inside.split(","))
        steps.append(Step("index", indexes[0]) if len(indexes) == 1 else Step("indexes", indexes))
    elif (match := _SLICE.fullmatch(inside)) is not None and inside:
        steps.append(Step("slice", tuple(None if each is None else int(each) for each in match.groups())))
    else:
        raise PathError(f"Cannot read {text[start:]!r} in the path {text!r}")
    return end + 1


def _closed(text: str, at: int) -> int:
    while text.startswith(" ", at):
        at += 1
    if not text.startswith("]", at):
        raise PathError(f"Expected ']' at {at} in the path {text!r}")
    return at + 1
