"""`headrace doctor`: check everything that jobs need on this machine, and say how to fix what is wrong."""

from __future__ import annotations

import json
import logging
import os
import platform
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

import headrace
from headrace.cli.options import json_option, settings_option, show, wants_json
from headrace.config import checkpoint_keys
from headrace.config import headrace_keys as options
from headrace.config.config_file import configuration_file, load_configuration
from headrace.config.configuration import Configuration
from headrace.config.headrace_keys import service_directory
from headrace.errors import ConfigurationError, HeadraceError
from headrace.state.storage import file_system, join, local_path

_log = logging.getLogger("headrace.cli")
_PROBE_SECONDS = 120.0
_LONGEST_SOCKET_PATH = 60
"""Limit for the temporary directory: the path of a Unix socket has about 100 characters, and headrace needs 40."""


@click.command()
@click.option("--spark/--no-spark", default=True, help="Run a small Spark job, which takes a few seconds.")
@settings_option
@json_option
def doctor(spark: bool, settings: dict[str, str]) -> None:
    """Check configuration, Java, the Python of the executors, ports and storage; say how to fix what is wrong.

    The exit code is 1 if a check failed.

    \b
    headrace doctor
    headrace doctor -D spark.master=spark://host:7077 -D execution.checkpointing.dir=s3://bucket/checkpoints
    """
    findings = []
    for finding in check_everything(settings, spark):
        findings.append(finding)
        if not wants_json():
            for line in _lines(finding):
                click.echo(line)
    ready = all(finding.ok for finding in findings)
    show(
        {"ready": ready, "checks": [{**asdict(f), "remedy": None if f.ok else f.remedy} for f in findings]},
        ["Ready." if ready else "Not ready."],
    )
    if not ready:
        sys.exit(1)


def _lines(finding: Finding) -> list[str]:
    mark = "ok   " if finding.ok else "WRONG"
    lines = [f"{mark}  {finding.check}: {finding.seen}"]
    return lines if finding.ok or finding.remedy is None else [*lines, f"       -> {finding.remedy}"]


@dataclass(frozen=True)
class Finding:
    """The result of a check; `remedy` says what to do if it is not `ok`."""

    check: str
    ok: bool
    seen: str
    remedy: str | None = None

    @staticmethod
    def of(check: str, error: HeadraceError) -> Finding:
        """Return the finding for an error."""
        seen = error.message if error.seen is None else f"{error.message}: {error.seen}"
        return Finding(check, False, seen, error.remedy)


def check_everything(overrides: Mapping[str, str], spark: bool) -> Iterator[Finding]:
    """Yield the findings; with `spark`, also run a Spark job, which takes a few seconds."""
    try:
        settings = load_configuration(overrides=overrides)
    except HeadraceError as error:
        yield Finding.of("configuration", error)
        return
    path = configuration_file()
    yield Finding("configuration", True, str(path) if path.is_file() else "no file, using the defaults")
    java = _java()
    yield java
    yield Finding("python", True, f"{platform.python_version()}, headrace {headrace.__version__}, {sys.executable}")
    if java.ok and spark:
        yield _executors(settings)
    yield _rest_port(settings)
    yield _temporary_directory()
    yield from _storage(settings)


def _java() -> Finding:
    from headrace.spark.java import java_command, major_version, require_java

    try:
        require_java()
    except HeadraceError as error:
        return Finding.of("java", error)
    java = java_command() or "java"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = major_version(said.stderr)
    return Finding("java", version is not None, f"Java {version} in {java}" if version else said.stderr[:300])


_PROBE = """
import json, sys
from headrace.spark.python_probe import probe_executors
print(json.dumps(probe_executors(json.loads(sys.argv[1]))))
"""
"""Not run with `-m`: executors must import the probe, as they import the rest of headrace."""


def _executors(settings: Mapping[str, str]) -> Finding:
    """Run a small job on `spark.master`, in a separate process, so that its Spark ends with it."""
    own = {key: value for key, value in settings.items() if key.startswith("spark.")}
    where = own.get("spark.master") or os.environ.get("HEADRACE_SPARK_MASTER") or "local Spark"
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE, json.dumps(own)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PROBE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Finding(
            "executors",
            False,
            f"no executor of {where} responded within {_PROBE_SECONDS:.0f} s",
            "check on the web page of the Spark master that workers have free cores and memory",
        )
    if done.returncode:
        return Finding("executors", False, _last_words(done.stderr), "check spark.master and spark.pyspark.python")
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    here = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}", "headrace": headrace.__version__}
    others = [f"{e['host']}: Python {e['python']}, headrace {e['headrace']}" for e in found if not _same(e, here)]
    return Finding(
        "executors",
        not others,
        "; ".join(others) or f"{where}: Python {here['python']} and headrace {here['headrace']}, like here",
        "on all machines, set spark.pyspark.python to the same minor version of Python, with the same version of headrace",
    )


def _same(executor: Mapping[str, Any], here: Mapping[str, str]) -> bool:
    return all(executor[key] == value for key, value in here.items())


def _last_words(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines) if line and not line[0].isspace()]
    return "\n".join(lines[starts[-1] :] if starts else lines[-5:])[:1000]


def _rest_port(settings: Mapping[str, str]) -> Finding:
    host = settings.get("rest.bind-address", "127.0.0.1")
    port = settings.get("rest.port", "8081")
    noted = service_directory(settings) / "service.json"
    if noted.is_file():
        from headrace.cli.service_client import find_service

        try:
            service = find_service(None, settings)
            service.jobs()
            return Finding("service", True, f"running at {service.rest.url}")
        except ConfigurationError as error:
            return Finding.of("service", error)
        except HeadraceError as error:
            _log.debug("the noted service does not respond: %s", error)
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, int(port)))
    except (OSError, ValueError, OverflowError) as error:
        return Finding(
            "service",
            False,
            f"{host}:{port} cannot be used: {error}",
            "set rest.port to a free port (0 for any), or stop the program that uses it",
        )
    return Finding("service", True, f"not running; {host}:{port} is free")


def _temporary_directory() -> Finding:
    place = tempfile.gettempdir()
    return Finding(
        "temporary directory",
        len(place) <= _LONGEST_SOCKET_PATH,
        place,
        "it contains sockets, whose paths must be short: set TMPDIR to a shorter path, such as /tmp",
    )


def _storage(settings: Mapping[str, str]) -> Iterator[Finding]:
    """Write, read and delete a small file in each directory that jobs use."""
    configuration = Configuration.from_dict(settings)
    for option in (checkpoint_keys.CHECKPOINT_DIRECTORY, checkpoint_keys.SAVEPOINT_DIRECTORY, options.STATE_DIRECTORY):
        place = configuration.get(option)
        if place is not None:
            yield _storage_at(option.key, place)


def _storage_at(key: str, place: str) -> Finding:
    name = f"headrace-doctor-{uuid.uuid4().hex}"
    try:
        same = _write_and_read(place, name)
    except HeadraceError as error:
        return Finding.of(key, error)
    except Exception as error:  # fsspec's file systems raise many kinds
        return Finding(key, False, f"{place}: {type(error).__name__}: {error}", "check the path and its permissions")
    return Finding(
        key, same, place, None if same else "a file that was written there has another content when it is read"
    )


def _write_and_read(place: str, name: str) -> bool:
    folder = local_path(place)
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
        file = Path(folder, name)
        file.write_bytes(b"doctor")
        same = file.read_bytes() == b"doctor"
        file.unlink()
        return same
    system, path = file_system(join(place, name))
    system.pipe_file(path, b"doctor")
    same = system.cat_file(path) == b"doctor"
    system.rm_file(path)
    return bool(same)
