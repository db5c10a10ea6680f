"""Functions that fork: a clear error. Other ways to start a process are left alone."""

import os
import textwrap

import pytest

from headrace.common import Configuration, Types
from headrace.common.errors import HeadraceError
from headrace.datastream import StreamExecutionEnvironment


def local_env():
    configuration = Configuration()
    configuration.set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


def fork(value):
    child = os.fork()
    if child == 0:
        os._exit(0)  # if it is not refused, the test must not run twice
    os.waitpid(child, 0)
    return value


def test_a_fork_in_a_function_is_refused():
    with pytest.raises(HeadraceError, match=r"os.fork\(\) was called in a function of the program") as raised:
        list(local_env().from_collection([1, 2], Types.LONG()).map(fork).execute_and_collect())
    assert "subprocess" in str(raised.value)


FORKING = """
    import multiprocessing, os, pickle, subprocess, sys, time
    from os import fork
    from headrace.common import Configuration, Types
    from headrace.datastream import StreamExecutionEnvironment

    def by_others(value):
        done = subprocess.run([sys.executable, "-c", f"print({value} + 1)"], capture_output=True, check=True, text=True)
        child = multiprocessing.get_context("fork").Process(target=time.time)
        child.start()
        child.join()
        return int(done.stdout), child.exitcode

    configuration = Configuration().set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    print(*env.from_collection([1], Types.LONG()).map(by_others).execute_and_collect())
    child = os.fork()
    if child == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(pickle.loads(pickle.dumps(fork)) is fork)
"""


def test_other_ways_to_have_a_child_are_left_alone(run_script, tmp_path):
    """By subprocess and multiprocessing in functions, and by fork outside of them; in a process without other threads."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(FORKING))
    finished = run_script(script, tmp_path, 60)
    assert finished.stdout.split("\n")[:3] == ["(2, 0)", "7", "True"], finished.report()
