"""Run the program of an application on the cluster: `python application_driver.py FOLDER [arguments]`.

This file must work on its own, because a copy of it is part of the application. headrace is installed where drivers run.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Pass the settings on like a launcher, then run the program like `python FILE`."""
    from headrace.cli.launch import import_paths
    from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, write_configuration

    folder = Path(sys.argv[1]).resolve()
    facts = json.loads((folder / "application.json").read_text())
    settings: dict[str, str] = facts["settings"]
    for key in ("python.files", "python.archives"):
        if key in settings:
            settings[key] = ",".join(str(folder / entry) for entry in settings[key].split(","))
    if "python.requirements" in settings:
        settings["python.requirements"] = "#".join(
            str(folder / entry) for entry in settings["python.requirements"].split("#")
        )
    own = Path(tempfile.mkdtemp(prefix="headrace-application-"))
    write_configuration(own / "settings.json", settings)
    os.environ[CONFIGURATION_FILE_VARIABLE] = str(own / "settings.json")
    program = folder / "program" / facts["program"]
    sys.path[:1] = [str(program.parent), *import_paths(settings, own)]
    sys.argv = [str(program), *sys.argv[2:]]
    runpy.run_path(str(program), run_name="__main__")


if __name__ == "__main__":
    main()
