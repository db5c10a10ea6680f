"""Writes docs/reference/ from the docstrings of the package: one page per part of the API.

    python scripts/make_reference.py

`PAGES` says which modules (or names in a module) a page covers. A name stands once, on the first page that has it. The
examples are those of the docstrings, which the tests run. `tests/docs/test_reference.py` fails while the pages differ from
the docstrings.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"

PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "environment": (
        "The environment: settings, sources, running",
        (
            "headrace.datastream.stream_execution_environment",
            "headrace.datastream.execution_mode",
            "headrace.datastream.checkpoint_config",
            "headrace.datastream.checkpointing_mode",
            "headrace.datastream.externalized_checkpoint_retention",
            "headrace.datastream.checkpoint_storage",
            "headrace.datastream.state_backend",
            "headrace.datastream.slot_sharing_group",
            "headrace.datastream.time_characteristic",
        ),
    ),
    "streams": (
        "Streams and their operators",
        (
            "headrace.datastream.data_stream",
            "headrace.datastream.streams.iterative_stream:IterativeStream",
            "headrace.datastream.streams.interval_join",
            "headrace.datastream.streams.window_joins",
            "headrace.datastream.output_tag",
            "headrace.datastream.async_data_stream",
            "headrace.datastream.async_retry_strategies",
            "headrace.datastream.async_retry_predicates",
        ),
    ),
    "functions": (
        "Functions that programs write",
        ("headrace.datastream.functions", "headrace.datastream.timerservice", "headrace.datastream.time_domain"),
    ),
    "state": ("Keyed state", ("headrace.datastream.state",)),
    "windows": ("Windows, triggers, evictors", ("headrace.datastream.window",)),
    "connectors": (
        "Sources and sinks",
        (
            "headrace.datastream.connectors",
            "headrace.datastream.connectors.base",
            "headrace.datastream.connectors.file_system",
            "headrace.datastream.connectors.kafka",
            "headrace.datastream.connectors.hybrid_source",
            "headrace.datastream.connectors.number_seq",
            "headrace.datastream.connectors.datagen",
            "headrace.connectors.base.rate_limit",
            "headrace.datastream.connectors.rabbitmq",
            "headrace.datastream.connectors.redis",
            "headrace.types.bad_record",
            "headrace.datastream.connectors.jdbc",
            "headrace.datastream.connectors.sink2",
        ),
    ),
    "formats": (
        "Formats",
        tuple(f"headrace.datastream.formats.{name}" for name in ("json", "csv", "avro", "parquet", "orc")),
    ),
    "types": ("Types and rows", ("headrace.common.typeinfo", "headrace.common.types")),
    "time": (
        "Time and watermarks",
        ("headrace.common.time", "headrace.common.watermark_strategy", "headrace.common.watermark_generator"),
    ),
    "configuration": (
        "Configuration",
        (
            "headrace.common.configuration",
            "headrace.common.config_options",
            "headrace.common.execution_config",
            "headrace.common.execution_mode",
            "headrace.common.input_dependency_constraint",
            "headrace.common.restart_strategy",
        ),
    ),
    "jobs": (
        "Jobs and their results",
        (
            "headrace.common.job_client",
            "headrace.common.job_execution_result",
            "headrace.common.job_id",
            "headrace.common.job_status",
            "headrace.common.completable_future",
            "headrace.common.accumulators",
        ),
    ),
    "serialization": (
        "Serialization",
        ("headrace.common.serialization", "headrace.common.serializer", "headrace.common.io"),
    ),
    "state_processor": ("Savepoints: read, change, make, compare", ("headrace.state_processor",)),
    "errors": ("Errors", ("headrace.common.errors",)),
    "cep": ("Patterns over streams", ("headrace.cep",)),
    "metrics": ("Metrics and reporters", ("headrace.metrics", "headrace.metrics.reporters")),
    "testing": ("The test kit", ("headrace.testing", "headrace.testing.test_case_utils")),
    "more": ("Other names", ("headrace.datastream", "headrace.common")),
}

_NOTE = "<!-- made by scripts/make_reference.py: change the docstrings, not this page -->"


def pages() -> dict[str, str]:
    """All pages by file name."""
    made: dict[str, str] = {}
    seen: dict[Any, str] = {}
    aliases: set[str] = set()
    documented = {
        value for _, modules in PAGES.values() for m in modules for _, value in _exported(m) if inspect.isclass(value)
    }
    index = ["# Reference", "", _NOTE, "", "All public names, from their docstrings. The examples run as tests.", ""]
    for name, (title, modules) in PAGES.items():
        parts = [f"# {title}", "", _NOTE, ""]
        names: list[str] = []
        for module in modules:
            for exported, value in _exported(module):
                key = value if inspect.isclass(value) or inspect.isfunction(value) else exported
                if key in seen and exported != seen[key] and exported not in aliases:
                    aliases.add(exported)
                    names.append(exported)
                    parts += [f"## {exported}", "", f"Another name of {seen[key]}.", ""]
                elif key not in seen:
                    seen[key] = exported
                    names.append(exported)
                    parts += _documented(module.partition(":")[0], exported, value, documented)
        if names:
            made[f"{name}.md"] = "\n".join(parts).rstrip() + "\n"
            links = ", ".join(f"[{each}]({name}.md#{each.lower()})" for each in names)
            index += [f"## [{title}]({name}.md)", "", links, ""]
    made["README.md"] = "\n".join(index).rstrip() + "\n"
    return made


def _exported(module: str) -> Iterator[tuple[str, Any]]:
    module, _, only = module.partition(":")
    found = importlib.import_module(module)
    for name in [only] if only else found.__all__:
        yield name, getattr(found, name)


def _documented(module: str, name: str, value: Any, documented: set[type]) -> list[str]:
    head = [f"## {name}", ""]
    if inspect.isclass(value):
        above = next((part for part in value.__mro__[1:] if part in documented), None)
        more = (
            [f"Has all that [{above.__name__}]({_page_of(above)}#{above.__name__.lower()}) has.", ""] if above else []
        )
        call = f"`{_call(f'{module}.{name}', value)}`"
        return [*head, call, "", *_text(value), *more, *_members(name, value, documented)]
    if inspect.isfunction(value):
        return [*head, f"`{_call(f'{module}.{name}', value)}`", "", *_text(value)]
    return [*head, f"`{module}.{name}` = `{_plain(value)}`", ""]


def _page_of(documented: type) -> str:
    for name, (_, modules) in PAGES.items():
        if any(value is documented for module in modules for _, value in _exported(module)):
            return f"{name}.md"
    raise LookupError(documented)


def _members(name: str, owner: type, documented: set[type]) -> list[str]:
    parts: list[str] = []
    if issubclass(owner, Enum):
        parts = [*(f"- `{name}.{member.name}`" for member in owner), ""]
    for member, value in _own(owner, documented):
        if isinstance(value, (staticmethod, classmethod)):
            parts += [f"### {name}.{member}", "", f"`{_call(f'{name}.{member}', value.__func__)}`", ""]
            parts += _text(value.__func__)
        elif inspect.isfunction(value):
            parts += [f"### {name}.{member}", "", f"`{_call(member, value)}`", "", *_text(value)]
        elif isinstance(value, property):
            parts += [f"### {name}.{member}", "", *_text(value)]
        elif inspect.isclass(value):
            parts += [f"### {name}.{member}", "", *_text(value)]
    return parts


def _own(owner: type, documented: set[type]) -> Iterator[tuple[str, Any]]:
    """Public members of a class and of its helper classes in headrace, each once; not of what has an entry of its own."""
    seen: set[str] = set()
    for part in owner.__mro__:
        if part.__module__.startswith("headrace") and (part is owner or part not in documented):
            for name, value in vars(part).items():
                if not name.startswith("_") and name not in seen:
                    seen.add(name)
                    yield name, value


def _call(name: str, function: Any) -> str:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return name
    shown, star = [], False
    for number, parameter in enumerate(signature.parameters.values()):
        if number == 0 and parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            shown.append("*")
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={_plain(parameter.default)}"
        shown.append(f"{prefix}{parameter.name}{default}")
    return f"{name}({', '.join(shown)})"


def _plain(value: Any) -> str:
    """A default as the program would write it, the same on every machine and Python."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (int, float, str, bytes, bool, tuple, type(None))):
        return repr(value)
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _text(value: Any) -> list[str]:
    """The docstring as Markdown: examples become console blocks."""
    lines: list[str] = []
    inside = False
    for line in (inspect.getdoc(value) or "").splitlines():
        if not inside and line.lstrip().startswith(">>>"):
            inside = True
            lines.append("```pycon")
        elif inside and not line.strip():
            inside = False
            lines.append("```")
        lines.append(line if inside else line.replace("``", "`"))
    return [*lines, *(["```"] if inside else []), ""]


def main() -> None:
    """Write the pages; pages that are no longer made are deleted."""
    made = pages()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
