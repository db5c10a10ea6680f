"""`headrace run FILE`: run a program here or on the service. `headrace info FILE`: show its plan.

A program that needs other files is uploaded in a zip file. Modules (`-pyfs`) are placed there as on an import path: `.py`
files and packages under their names, other directories and zip files with their contents. The program is a module beside
them. Files that only the functions need (`-pyreq`, `-pyarch`) are below a separate directory, which the service unpacks.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from headrace.cli.launch import absolute_paths, launched_environment, planned, run_program
from headrace.cli.options import address_option, json_option, show, wants_json
from headrace.cli.program_command import ProgramCommand, launch_settings, program_options
from headrace.cli.service_client import ServiceClient, find_service
from headrace.config import checkpoint_keys as keys
from headrace.config.config_file import CONFIGURATION_FILE_VARIABLE, load_configuration
from headrace.config.pipeline_keys import BUNDLED, FILE_KEYS, MODULES_KEY, moved_settings
from headrace.errors import ConfigurationError
from headrace.graph.json_plan import plan_as_json


@click.command(cls=ProgramCommand)
@click.option("-d", "--detached", is_flag=True, help="Submit the program to the service and return at once.")
@click.option(
    "-sae",
    "--shutdown-on-attached-exit",
    is_flag=True,
    help="Cancel a job of the service when this command is interrupted.",
)
@address_option
@program_options
@json_option
def run(
    program: str,
    arguments: tuple[str, ...],
    detached: bool,
    shutdown_on_attached_exit: bool,
    address: str | None,
    **options: Any,
) -> None:
    """Run a program.

    By default the program is a child of this command: Ctrl-C ends its job, and the command returns its exit code.
    spark.master decides where its job runs. With -d or -m the program is submitted to the job service, which runs it in a
    separate process and restarts it from its last checkpoint if that process dies. With -m and without -d the command
    waits until the job has ended.

    \b
    headrace run job.py                                      here, on local Spark
    headrace run -p 4 -D spark.master=spark://host:7077 job.py --input x
    headrace run -d -pyfs helpers.py,models/ job.py          on the service
    headrace run -d -s file:///data/savepoints/savepoint-5f3a12-0b9c job_v2.py
    """
    path = existing_program(program)
    settings = absolute_paths(launch_settings(**options))
    if detached or address is not None:
        service = find_service(address, load_configuration(overrides=options["settings"]))
        _run_on_service(service, path, arguments, settings, detached, shutdown_on_attached_exit)
        return
    code = run_program(str(path), arguments, load_configuration(overrides=settings), quiet=wants_json())
    if wants_json():
        show({"program": str(path), "exit-code": code, "state": "FAILED" if code else "FINISHED"}, [])
    sys.exit(code)


def _run_on_service(
    service: ServiceClient,
    path: Path,
    arguments: tuple[str, ...],
    settings: dict[str, str],
    detached: bool,
    cancel_when_interrupted: bool,
) -> None:
    job_id = _submit(service, path, arguments, settings)
    if detached:
        show({"jobid": job_id}, [f"Job {job_id} has been submitted."])
        return
    if not wants_json():
        click.echo(f"Job {job_id} has been submitted; waiting until it ends.")
    try:
        state = service.wait_for_end(job_id)
    except KeyboardInterrupt:
        if cancel_when_interrupted:
            service.cancel(job_id, timeout=60.0)
        raise
    reason = service.root_exception(job_id) if state == "FAILED" else None
    show({"jobid": job_id, "state": state, "root-exception": reason}, [f"Job {job_id}: {state}"])
    if state != "FINISHED":
        if reason and not wants_json():
            click.echo(reason, err=True)
        sys.exit(1)


def _submit(service: ServiceClient, path: Path, arguments: tuple[str, ...], settings: dict[str, str]) -> str:
    """Upload a program with its files, which need not exist where the service runs, and return the job id."""
    if not needs_bundle(settings):
        return service.submit(path, path.name, _run_request(arguments, settings))
    with tempfile.TemporaryDirectory(prefix="headrace-bundle-") as folder:
        bundle = Path(folder) / f"{module_of(path)}.zip"
        request = _run_request(arguments, make_bundle(path, settings, bundle))
        return service.submit(bundle, bundle.name, {**request, "entryClass": module_of(path)})


def _run_request(arguments: tuple[str, ...], settings: dict[str, str]) -> dict[str, Any]:
    """Return the body of a run request: settings with a field in Flink's REST use it, all others are configuration."""
    rest = {key: value for key, value in settings.items() if not key.startswith("headrace.client.")}
    parallelism = rest.pop("parallelism.default", None)
    savepoint = rest.pop(keys.RESTORE_PATH.key, None)
    ignore = rest.pop(keys.RESTORE_IGNORE_UNCLAIMED.key, None)
    request: dict[str, Any] = {"programArgsList": list(arguments), "flinkConfiguration": rest}
    if parallelism is not None:
        request["parallelism"] = int(parallelism)
    if savepoint is not None:
        request["savepointPath"] = savepoint
    if ignore is not None:
        request["allowNonRestoredState"] = ignore == "true"
    return request


@click.command(cls=ProgramCommand)
@program_options
@json_option
def info(program: str, arguments: tuple[str, ...], **options: Any) -> None:
    """Show the plan of a program as Flink's JSON, without running its job.

    The program runs up to its first execute(). `headrace graph` draws pictures of the plan.

    \b
    headrace info -p 4 job.py --input x
    """
    path = existing_program(program)
    settings = load_configuration(overrides=absolute_paths(launch_settings(**options)))
    with launched_environment(settings) as (environment, imports):
        before, path_before = os.environ.get(CONFIGURATION_FILE_VARIABLE), list(sys.path)
        os.environ[CONFIGURATION_FILE_VARIABLE] = environment[CONFIGURATION_FILE_VARIABLE]
        sys.path[:0] = imports
        try:
            click.echo(plan_as_json(planned(str(path), arguments)))
        finally:
            sys.path[:] = path_before
            if before is None:
                del os.environ[CONFIGURATION_FILE_VARIABLE]
            else:
                os.environ[CONFIGURATION_FILE_VARIABLE] = before


def existing_program(program: str) -> Path:
    """Return the path of a program, which must exist."""
    path = Path(program)
    if program.startswith("-"):
        raise click.NoSuchOption(program)
    if not path.is_file():
        raise click.BadParameter(f"file {program!r} does not exist", param_hint="FILE")
    return path


def module_of(program: Path) -> str:
    """Return the module name of a program in its bundle.

    >>> module_of(Path("jobs/word-count.py"))
    'word_count'
    """
    return re.sub(r"\W", "_", program.stem)


def needs_bundle(settings: Mapping[str, str]) -> bool:
    """Return whether a program needs other files.

    >>> needs_bundle({"python.requirements": "requirements.txt"}), needs_bundle({"python.executable": "python3"})
    (True, False)
    """
    return any(settings.get(key) for key in (MODULES_KEY, *FILE_KEYS))


def make_bundle(program: Path, settings: Mapping[str, str], target: Path) -> dict[str, str]:
    """Write the zip file of a program and its files, and return the settings with the paths inside it."""
    modules = [Path(path) for path in settings.get(MODULES_KEY, "").split(",") if path]
    places: dict[str, Path] = {}

    def place(path: str) -> str:
        name = f"{BUNDLED}{len(places)}/{Path(path).name}"
        places[name] = Path(path)
        return name

    moved = moved_settings(settings, place)
    moved.pop(MODULES_KEY, None)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        written: set[str] = set()
        for name, content in _modules(program, modules):
            if name not in written:  # an import finds the first of two modules with the same name
                written.add(name)
                bundle.writestr(name, content)
        for name, path in places.items():
            _add(bundle, name, path)
    return moved


def _modules(program: Path, paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    yield f"{module_of(program)}.py", program.read_bytes()
    for path in paths:
        if path.is_dir():
            base = path.parent if (path / "__init__.py").exists() else path
            for file in _files_of(path):
                yield file.relative_to(base).as_posix(), file.read_bytes()
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir():
                        yield entry.filename, archive.read(entry)
        elif path.is_file():
            yield path.name, path.read_bytes()
        else:
            raise ConfigurationError("-pyfs names a file that does not exist", seen=str(path))


def _add(bundle: zipfile.ZipFile, name: str, path: Path) -> None:
    """Store a file or folder without compression: archives and wheels are compressed already."""
    if path.is_file():
        bundle.write(path, name, zipfile.ZIP_STORED)
    elif path.is_dir():
        bundle.writestr(f"{name}/", b"", zipfile.ZIP_STORED)
        for file in _files_of(path):
            bundle.write(file, f"{name}/{file.relative_to(path).as_posix()}", zipfile.ZIP_STORED)
    else:
        raise ConfigurationError("-pyreq or -pyarch names a file that does not exist", seen=str(path))


def _files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
