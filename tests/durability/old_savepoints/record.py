"""Record savepoints of all jobs with the code of today: `python record.py FOLDER [NAME ...]`.

FOLDER is e.g. `../../data/savepoints/0.2.0`; with names, only these recordings are made (again).

Makes one archive for each job and state backend: its working directory after the stop, with the savepoint in it, and in
`expected.json` the rows that must come after a restore. They are those of a run without a stop, less those before the stop.
`state.key` is the key that all are signed with; `pickled_names.json` lists what the pickles in them name;
`operator_ids.json` has the ids of operators without uids, under which state is filed; `objects.json` has pickles of single
objects.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import recorded_kit as kit
from pickled_names import names_below, names_in
from recorded_flows import DELAY
from recorded_objects import objects, pickled, shown

from headrace.checkpoint.signatures import KEY_VARIABLE

_FAULT = "commit.between:9"
_KEPT = ("savepoint", "expected.json")


def record_area(area: str, backend: str) -> None:
    whole = kit.straight(area, backend)
    shutil.rmtree("checkpoints", ignore_errors=True)
    before, path = kit.stop(area, backend)
    Path(path).rename("savepoint")
    expected = {name: rows - before.get(name, kit.Counter()) for name, rows in whole.items()}
    for name, rows in whole.items():
        if before.get(name, kit.Counter()) + expected[name] != rows or not expected[name]:
            raise SystemExit(f"{area} with {backend}: the stop has left nothing of {name!r}, or it gave wrong rows")
    _write_expected(expected)
    if area == "processing-time":
        time.sleep(DELAY / 1000)
    restored = kit.run(area, backend, execution__state_recovery__path="savepoint")
    if restored != expected:
        raise SystemExit(f"{area} with {backend}: the savepoint gives other rows today")


def record_sinks() -> None:
    path = kit.stop_sinks()
    Path(path).rename("savepoint")
    _write_expected({})


def record_unfinished() -> None:
    command = [sys.executable, __file__, "--until-killed"]
    killed = subprocess.run(command, env={**os.environ, "HEADRACE_FAULT": f"{_FAULT}:kill"}, check=False)
    if killed.returncode != -signal.SIGKILL:
        raise SystemExit(f"The job was to be killed at {_FAULT}")
    _write_expected({})


def _write_expected(rows: kit.Rows) -> None:
    facts = {"python": platform.python_version(), "rows": rows}
    Path("expected.json").write_text(json.dumps(facts, indent=1, sort_keys=True))


def _packed(target: Path, keep: tuple[str, ...]) -> None:
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for file in sorted(Path().rglob("*")):
            if not keep or file.parts[0] in keep:
                archive.add(file, recursive=False, filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


def record(folder: Path, name: str, make: Callable[[], None], keep: tuple[str, ...] = ()) -> None:
    """Run `make` in a working directory of its own, and pack what it leaves there."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:
        home = os.getcwd()
        os.chdir(place)
        try:
            make()
            _packed(folder / f"{name}.tar.xz", keep)
        finally:
            os.chdir(home)


def _names(archive: Path) -> set[str]:
    """What the pickles of a recording name."""
    with tempfile.TemporaryDirectory() as place, tarfile.open(archive) as files:
        files.extractall(place, filter="data")
        return names_below(Path(place))


def archives() -> dict[str, Callable[[Path], None]]:
    """All that is recorded, by name."""
    found: dict[str, Callable[[Path], None]] = {}
    for area in kit.AREAS:
        for backend in kit.BACKENDS:
            name = f"{area}-{backend}"
            found[name] = partial(record, name=name, make=partial(record_area, area, backend), keep=_KEPT)
    found[kit.SINKS] = partial(record, name=kit.SINKS, make=record_sinks)
    found[kit.UNFINISHED] = partial(record, name=kit.UNFINISHED, make=record_unfinished)
    return found


def main(folder: Path, *wanted: str) -> None:
    """Make recordings, then list what all that are in the folder hold."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[KEY_VARIABLE] = str(folder / "state.key")
    for name, make in archives().items():
        if not wanted or name in wanted:
            make(folder)
            print(name, (folder / f"{name}.tar.xz").stat().st_size)
    found = {archive.name.removesuffix(".tar.xz"): _names(archive) for archive in folder.glob("*.tar.xz")}
    kept = {name: pickled(value) for name, value in objects().items()}
    found["objects"] = {name for text in kept.values() for name in names_in(base64.b64decode(text))}
    every = sorted(set().union(*found.values()))
    names = {name: sorted(recording for recording, held in found.items() if name in held) for name in every}
    _write(folder / "pickled_names.json", names)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        _write(folder / "operator_ids.json", {area: kit.operator_ids(area) for area in [*kit.AREAS, kit.SINKS]})
        os.chdir(folder)
    _write(folder / "objects.json", {name: [kept[name], shown(value)] for name, value in objects().items()})


def _write(target: Path, facts: object) -> None:
    target.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--until-killed":
        kit.run_sinks(headrace__job__id=kit.JOB)
    else:
        main(Path(sys.argv[1]).absolute(), *sys.argv[2:])
