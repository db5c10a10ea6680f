"""`import headrace` is light: it loads no PySpark and takes no time that anyone would notice."""

import json
import subprocess
import sys

MEASURE = """
import json, sys, time
started = time.perf_counter()
import headrace
seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "modules": sorted(sys.modules), "version": headrace.__version__}))
"""
LIMIT_S = 0.5


def measure_import() -> dict:
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_import_loads_no_pyspark():
    heavy = {"pyspark", "py4j", "pandas", "numpy", "pyarrow"}
    loaded = {name.split(".")[0] for name in measure_import()["modules"]}
    assert not heavy & loaded


def test_import_is_fast():
    best = min(measure_import()["seconds"] for _ in range(3))
    assert best < LIMIT_S


def test_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert measure_import()["version"] == version("headrace")


def test_the_version_has_the_place_that_pyflinks_has():
    import headrace
    from headrace.version import __version__

    assert __version__ == headrace.__version__
