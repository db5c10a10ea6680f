"""docs/table/functions.md names every built-in function and is up to date."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_functions_page", ROOT / "scripts" / "make_functions_page.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_page_names_every_function(script):
    assert script.missing() == [], "add the functions to FORMS in scripts/make_functions_page.py"


def test_the_page_is_up_to_date(script):
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run python scripts/make_functions_page.py"
