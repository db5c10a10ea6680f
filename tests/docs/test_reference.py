"""docs/reference/ says what the docstrings say, and leaves no public name out."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SURFACE = json.loads((ROOT / "tests" / "data" / "pyflink_surface.json").read_text())
ADDED = (
    "headrace.cep",
    "headrace.metrics",
    "headrace.state_processor",
    "headrace.testing",
    "headrace.common.accumulators",
    "headrace.common.errors",
)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "scripts" / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def pages(script):
    return script.pages()


def public_modules():
    """The modules of PyFlink that headrace has, and its own."""
    for name in [*SURFACE["modules"], *ADDED]:
        name = name.replace("pyflink", "headrace")
        try:
            yield importlib.import_module(name)
        except ModuleNotFoundError:
            assert name.startswith(("headrace.datastream.connectors.", "headrace.datastream.formats.")), name


def test_the_pages_are_up_to_date(script, pages):
    written = {path.name: path.read_text(encoding="utf-8") for path in script.FOLDER.glob("*.md")}
    stale = sorted(name for name in pages.keys() | written.keys() if pages.get(name) != written.get(name))
    assert not stale, f"run python scripts/make_reference.py: {stale}"


def test_every_public_name_has_its_entry(pages):
    headings = {heading for text in pages.values() for heading in re.findall(r"^## (\w+)$", text, re.MULTILINE)}
    missing = {
        f"{module.__name__}.{name}" for module in public_modules() for name in module.__all__ if name not in headings
    }
    assert not missing


def test_every_public_method_has_its_entry(pages):
    everything = "\n".join(pages.values())
    for owner, methods in {
        "StreamExecutionEnvironment": ["execute", "from_collection", "set_python_requirements", "draw"],
        "DataStream": ["map", "key_by", "set_parallelism", "rebalance", "cache", "execute_and_collect"],
        "KeyedStream": ["sum", "interval_join"],
        "RuntimeContext": ["get_task_name", "get_distributed_cache"],
        "Duration": ["of_seconds"],
    }.items():
        for method in methods:
            assert f"### {owner}.{method}\n" in everything, f"{owner}.{method}"


def test_every_public_class_and_function_says_what_it_is():
    silent = {
        f"{module.__name__}.{name}"
        for module in public_modules()
        for name in module.__all__
        if (inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value)) and not inspect.getdoc(value)
    }
    assert not silent


def test_every_public_class_and_function_has_an_example():
    bare = {
        name
        for module in public_modules()
        for name in module.__all__
        if (inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value))
        and ">>>" not in inspect.getdoc(value)
    }
    assert not bare


def test_every_link_leads_to_an_entry(pages):
    anchors = {
        f"{page}#{h.lower()}" for page, text in pages.items() for h in re.findall(r"^## (\w+)$", text, re.MULTILINE)
    }
    links = {link for text in pages.values() for link in re.findall(r"\]\((\w+\.md(?:#\w+)?)\)", text)}
    assert {link for link in links if "#" in link} <= anchors
    assert {link.partition("#")[0] for link in links} <= pages.keys()


def test_examples_are_blocks_and_fences_are_closed(pages):
    for name, text in pages.items():
        fences = re.findall(r"^```.*$", text, re.MULTILINE)
        assert fences[::2] == ["```pycon"] * (len(fences) // 2) and fences[1::2] == ["```"] * (len(fences) // 2), name
        outside = re.sub(r"^```pycon\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        assert ">>>" not in outside, name
