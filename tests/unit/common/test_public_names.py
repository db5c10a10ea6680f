"""Every public name has an example in its docstring, and the package is light to import."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import headrace.common

MODULES = [info.name for info in pkgutil.walk_packages(headrace.common.__path__, "headrace.common.")]


@pytest.mark.parametrize("name", MODULES)
def test_public_names_have_an_example(name):
    module = importlib.import_module(name)
    public = [getattr(module, each) for each in getattr(module, "__all__", ())]
    bare = [each.__name__ for each in public if is_code(each) and ">>>" not in (inspect.getdoc(each) or "")]
    assert bare == []


def is_code(value):
    return inspect.isclass(value) or inspect.isfunction(value)


def test_import_brings_no_heavy_module():
    code = "import sys, headrace.common as c; print([m for m in ('pyspark', 'py4j', 'numpy', 'asyncio') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
