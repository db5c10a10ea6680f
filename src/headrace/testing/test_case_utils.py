"""Base classes for `unittest` tests, with the names of `pyflink.testing.test_case_utils`.

Their jobs run in the test's own process (`headrace.executor: local`), unless the environment variable `HEADRACE_EXECUTOR`
says otherwise. The base classes of Table API tests, and those that access a JVM, do not exist here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from typing import Any, ClassVar

from headrace.common import Configuration
from headrace.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

__all__ = [
    "PyFlinkBatchTestCase",
    "PyFlinkITTestCase",
    "PyFlinkStreamingTestCase",
    "PyFlinkTestCase",
    "PyFlinkUTTestCase",
]


def _environment(mode: RuntimeExecutionMode = RuntimeExecutionMode.STREAMING) -> StreamExecutionEnvironment:
    configuration = Configuration().set_string("headrace.executor", os.environ.get("HEADRACE_EXECUTOR", "local"))
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return env.set_parallelism(2).set_runtime_mode(mode)


class PyFlinkTestCase(unittest.TestCase):
    """A test case with a temporary directory, ``self.tempdir``, which is removed after the tests of the class."""

    tempdir: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        """Create the directory."""
        cls.tempdir = tempfile.mkdtemp(prefix="headrace-test-")

    @classmethod
    def tearDownClass(cls) -> None:
        """Remove the directory."""
        shutil.rmtree(cls.tempdir, ignore_errors=True)

    @classmethod
    def assert_equals(cls, actual: list[Any], expected: list[Any]) -> None:
        """Compare two lists, ignoring the order of their elements."""
        if sorted(actual) != sorted(expected):
            raise AssertionError(f"{sorted(actual)} is not {sorted(expected)}")


class PyFlinkITTestCase(PyFlinkTestCase):
    """A test case whose tests share an environment of parallelism 2, ``self.env``."""

    env: ClassVar[StreamExecutionEnvironment]

    @classmethod
    def setUpClass(cls) -> None:
        """Create the environment."""
        super().setUpClass()
        cls.env = _environment()


class PyFlinkUTTestCase(PyFlinkTestCase):
    """A test case whose tests each have an environment of parallelism 2, ``self.env``."""

    def setUp(self) -> None:
        """Create the environment."""
        self.env = _environment()


class PyFlinkStreamingTestCase(PyFlinkITTestCase):
    """A test case with an environment in streaming mode."""


class PyFlinkBatchTestCase(PyFlinkITTestCase):
    """A test case with an environment in batch mode.

    >>> class Sums(PyFlinkBatchTestCase):
    ...     def test_sum(self):
    ...         pairs = self.env.from_collection([("a", 1), ("a", 2)])
    ...         sums = pairs.key_by(lambda pair: pair[0]).reduce(lambda one, other: ("a", one[1] + other[1]))
    ...         self.assertEqual([("a", 3)], list(sums.execute_and_collect()))
    >>> unittest.TestResult.wasSuccessful(
    ...     unittest.defaultTestLoader.loadTestsFromTestCase(Sums).run(unittest.TestResult())
    ... )
    True
    """

    @classmethod
    def setUpClass(cls) -> None:
        """Create the environment."""
        super().setUpClass()
        cls.env.set_runtime_mode(RuntimeExecutionMode.BATCH)
