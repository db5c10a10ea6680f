"""Fault points: nothing without a fault, and the n-th time with one."""

import signal
import subprocess
import sys

import pytest

from headrace.common.errors import ConfigurationError
from headrace.foundation import faultpoints
from headrace.foundation.faultpoints import POINTS, VARIABLE, InjectedFaultError


@pytest.fixture(autouse=True)
def disarmed():
    faultpoints.disarm()
    yield
    faultpoints.disarm()


def test_there_are_28_points_with_names_of_their_own():
    assert len(POINTS) == len(set(POINTS)) == 28


def test_nothing_happens_without_a_fault():
    for point in POINTS:
        faultpoints.reach(point)


def test_the_nth_time():
    faultpoints.arm("marker.pre:3:raise")
    faultpoints.reach("marker.pre")
    faultpoints.reach("marker.post")
    faultpoints.reach("marker.pre")
    with pytest.raises(InjectedFaultError, match=r"marker\.pre:3"):
        faultpoints.reach("marker.pre")
    faultpoints.reach("marker.pre")


def test_counting():
    with faultpoints.counting() as reached:
        faultpoints.reach("gc.pre")
        faultpoints.reach("gc.pre")
    faultpoints.reach("gc.pre")
    assert reached == {"gc.pre": 2}
    with faultpoints.counting(), pytest.raises(ConfigurationError):
        faultpoints.reach("no.such.point")


@pytest.mark.parametrize(
    "text",
    ["", "gc.pre", "gc.pre:1", "gc.pre:0:kill", "gc.pre:x:kill", "gc.pre:1:burn", "nowhere:1:kill", "gc.pre:²:kill"],
)
def test_what_cannot_be_understood(text):
    with pytest.raises(ConfigurationError, match=VARIABLE):
        faultpoints.parse(text)


@pytest.mark.parametrize(("action", "code"), [("kill", -signal.SIGKILL), ("raise", 1)])
def test_a_process_is_armed_by_its_environment(action, code):
    program = "from headrace.foundation.faultpoints import reach; reach('plan.pre'); reach('plan.pre'); print('alive')"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={VARIABLE: f"plan.pre:2:{action}", "PYTHONPATH": ":".join(p for p in sys.path if p)},
        capture_output=True,
        text=True,
        errors="replace",  # a path in a traceback, where the locale has no such letters
        timeout=60,
        check=False,
    )
    assert run.returncode == code
    assert "alive" not in run.stdout
