"""Run a user's program inside the process of the command line."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from headrace.datastream.planning import PlanReached, planning_only
from headrace.errors import HeadraceError, InvalidProgramError
from headrace.graph.stream_graph import StreamGraph


def planned(program: str, arguments: Sequence[str] = ()) -> StreamGraph:
    """Run a program up to its first `execute()` and return the graph that it would have run.

    The program's output goes to standard error, so that the caller can use standard output.

    >>> import tempfile
    >>> text = '''
    ... from headrace.datastream import StreamExecutionEnvironment
    ... env = StreamExecutionEnvironment.get_execution_environment()
    ... env.from_collection([1]).print()
    ... env.execute("one")
    ... '''
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
    ...     _ = file.write(text) and file.flush()
    ...     planned(file.name).settings.job_name
    'one'
    """
    before = sys.argv, list(sys.path)
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).resolve().parent))
    try:
        with planning_only(), redirect_stdout(sys.stderr):
            runpy.run_path(program, run_name="__main__")
    except PlanReached as reached:
        return reached.graph
    except HeadraceError:
        raise
    except Exception as error:
        raise InvalidProgramError(
            "The program failed before its execute(), so it has no plan", seen=_traceback_of(program, error)
        ) from None
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
    raise InvalidProgramError(
        "The program ended without calling execute(), so it has no plan",
        seen=program,
        remedy="call env.execute() (or execute_async(), or execute_and_collect()) when the program runs as a script",
    )


def _traceback_of(program: str, error: Exception) -> str:
    """Return the traceback that `python PROGRAM` would show, without the frames of this command."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)).strip()
