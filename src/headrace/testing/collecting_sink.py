"""CollectingSink: a sink that collects the elements of all subtasks for a test.

Subtasks write to a local directory, so it works with the local executor and with Spark on this machine.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import uuid
import weakref
from pathlib import Path
from typing import Any

import cloudpickle

from headrace.functions import RuntimeContext, SinkFunction
from headrace.types.java_formatting import java_form
from headrace.types.typeinfo import TypeInformation


class CollectingSink(SinkFunction):
    """Collects the elements of a stream. `get_results` returns them as strings, `get_values` returns them unchanged.

    >>> from headrace.common import Configuration, Types
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> configuration = Configuration().set_string("headrace.executor", "local")
    >>> env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    >>> sink = CollectingSink()
    >>> rows = env.from_collection([("a", 1)], Types.ROW([Types.STRING(), Types.INT()]))
    >>> result = rows.add_sink(sink) and env.execute()
    >>> sink.get_results()
    ['+I[a, 1]']
    """

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="headrace-collected-")
        self._type: TypeInformation | None = None
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def set_input_type(self, type_info: TypeInformation | None) -> None:
        """Set the type of the stream, which decides the format of the strings."""
        self._type = type_info

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open a file for this subtask."""
        index = runtime_context.get_index_of_this_subtask()
        self._file = open(Path(self._folder) / f"{index:05d}-{uuid.uuid4().hex}", "wb")
        self._write(self._type)

    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        """Write an element."""
        self._write(value)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, value: Any) -> None:
        self._file.write(cloudpickle.dumps(value))
        self._file.flush()

    def get_results(self, is_python_object: bool = False, stringify: bool = True) -> list[Any]:
        """Return the elements since the last call, in the order of the subtasks.

        If the stream has a type, elements are formatted like Java's ``toString``. With ``is_python_object``, or without a
        type, they are formatted with ``str``, or returned unchanged if ``stringify`` is False.
        """
        results: list[Any] = []
        for type_info, values in self._taken():
            if type_info is not None and not is_python_object:
                results += map(java_form(type_info), values)
            else:
                results += map(str, values) if stringify else values
        return results

    def get_values(self) -> list[Any]:
        """Return the unchanged elements since the last call, in the order of the subtasks."""
        return [value for _, values in self._taken() for value in values]

    def clear(self) -> None:
        """Discard the elements since the last call."""
        self._taken()

    def _taken(self) -> list[tuple[TypeInformation | None, list[Any]]]:
        taken = []
        for path in sorted(Path(self._folder).iterdir()):
            with open(path, "rb") as file:
                type_info, *values = _objects(file)
            taken.append((type_info, values))
            path.unlink()
        return taken


def _objects(file: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(pickle.load(file))  # noqa: S301 - written by the test's own job
        except EOFError:
            return found
