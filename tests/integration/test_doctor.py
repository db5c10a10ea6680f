"""`headrace doctor` with a real Spark: which Python do the executors run?"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]


def executors_check(tmp_path, *words):
    command = [sys.executable, "-m", "headrace", "doctor", "--json", "-D", "spark.master=local[1]", "-D", "rest.port=0"]
    done = subprocess.run(
        [*command, "-D", f"headrace.service.dir={tmp_path}", *words],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "HEADRACE_PROPERTIES": ""},
    )  # fmt: skip
    checks = {entry["check"]: entry for entry in json.loads(done.stdout)["checks"]}
    return done.returncode, checks["executors"]


@pytest.mark.long
def test_the_python_of_the_executors(tmp_path):
    code, check = executors_check(tmp_path)
    assert code == 0 and check["ok"], check
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]}" in check["seen"]
    code, check = executors_check(tmp_path, "-D", "spark.pyspark.python=/nowhere/python")
    assert code == 1 and not check["ok"]
    assert "/nowhere/python" in check["seen"] and "spark.pyspark.python" in check["remedy"]
