"""Print the plan of a program as JSON: `python -m headrace.service.job_process.plan PROGRAM ENTRY [ARGUMENT...]`.

The program runs up to its first execute(), so it gets a separate process. ENTRY may be empty.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path

from headrace.datastream.planning import PlanReached, planning_only
from headrace.graph.job_graph import build_job_graph
from headrace.graph.json_plan import job_plan


def run_program(program: Path, entry: str | None, arguments: tuple[str, ...]) -> str | None:
    """Run a .py file, a .zip with a __main__.py, or the module `entry` of either; return the traceback if it failed."""
    sys.argv = [str(program), *arguments]
    sys.path.insert(0, str(program if program.suffix == ".zip" else program.parent))
    try:
        if entry is not None:
            runpy.run_module(entry, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as error:
        return None if error.code in (None, 0) else traceback.format_exc()
    except PlanReached:
        raise
    except BaseException:
        traceback.print_exc()
        return traceback.format_exc()
    return None


def main() -> None:
    """Print the plan, or the program's error to standard error."""
    program, entry, *arguments = sys.argv[1:]
    try:
        with planning_only(), redirect_stdout(sys.stderr):
            error = run_program(Path(program), entry or None, tuple(arguments))
    except PlanReached as reached:
        sys.stdout.write(json.dumps(job_plan(build_job_graph(reached.graph), os.urandom(16).hex())))
        return
    sys.exit(error or "The program ended without calling execute(), so it has no plan.")


if __name__ == "__main__":
    main()
