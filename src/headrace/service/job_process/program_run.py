"""Run a user's program in this process like `python FILE`. The process belongs to the program: nothing is restored."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path

from headrace.datastream.planning import PlanReached


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
