"""Running a user's program inside the command line's own process."""

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

__all__ = ["planned"]


def planned(program: str, arguments: Sequence[str] = ()) -> StreamGraph:
    """Run a program up to its first `execute()` and give the graph that would have run.

    What the program prints goes to standard error, so that standard output is the caller's.

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
            "The program failed before its execute(): there is no plan to show", seen=_traceback_of(program, error)
        ) from None
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
    raise InvalidProgramError(
        "The program ended without execute(): there is no plan to show",
        seen=program,
        remedy="call env.execute() (or execute_async(), or execute_and_collect()) when the program is run as a script",
    )


def _traceback_of(program: str, error: Exception) -> str:
    """What `python PROGRAM` would have shown: without the frames of this command."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)).strip()
