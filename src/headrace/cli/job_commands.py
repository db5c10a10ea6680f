"""`headrace list|cancel|stop|savepoint|checkpoint|rescale`: what people do with jobs of a service."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click

from headrace.cli.options import address_option, json_option, settings_option, show
from headrace.cli.service_client import TERMINAL, ServiceClient, find_service
from headrace.config.config_file import load_configuration

__all__ = ["cancel", "checkpoint", "list_jobs", "rescale", "savepoint", "stop"]

_SCHEDULED = ("CREATED", "INITIALIZING", "RESTARTING")
_CANCEL_SECONDS = 60.0


def _service(address: str | None, settings: dict[str, str]) -> ServiceClient:
    return find_service(address, load_configuration(overrides=settings))


@click.command("list")
@click.option("-r", "--running", is_flag=True, help="Only jobs that run.")
@click.option("-s", "--scheduled", is_flag=True, help="Only jobs that are about to run.")
@click.option("-a", "--all", "all_jobs", is_flag=True, help="Also jobs that have ended.")
@address_option
@settings_option
@json_option
def list_jobs(running: bool, scheduled: bool, all_jobs: bool, address: str | None, settings: dict[str, str]) -> None:
    """List the jobs of the service.

    \b
    headrace list              jobs that run or are about to
    headrace list --all --json jobs of all times, for a script
    """
    jobs = _service(address, settings).jobs()
    if running or scheduled:
        wanted = [j for j in jobs if (running and _runs(j)) or (scheduled and j["state"] in _SCHEDULED)]
    else:
        wanted = jobs if all_jobs else [j for j in jobs if j["state"] not in TERMINAL]
    show(wanted, [_line(job) for job in wanted] or ["There are no such jobs."])


def _runs(job: dict[str, Any]) -> bool:
    return job["state"] not in TERMINAL and job["state"] not in _SCHEDULED


def _line(job: dict[str, Any]) -> str:
    started = datetime.fromtimestamp(job["start-time"] / 1000).strftime("%Y-%m-%d %H:%M:%S")
    return f"{started}  {job['jid']}  {job['state']:<10}  {job['name']}"


@click.command()
@click.argument("job")
@address_option
@settings_option
@json_option
def cancel(job: str, address: str | None, settings: dict[str, str]) -> None:
    """Cancel JOB (an id, the beginning of one, or a name): it ends at once, without a savepoint.

    To go on later from where it was, use `headrace stop` instead.

    \b
    headrace cancel 5f3a
    """
    service = _service(address, settings)
    job_id = service.resolve(job)
    state = service.cancel(job_id, _CANCEL_SECONDS)
    show({"jobid": job_id, "state": state}, [f"Job {job_id}: {state}"])
    if state != "CANCELED":
        sys.exit(1)


@click.command()
@click.option("-p", "--savepoint-path", "directory", metavar="DIR", help="Where to write the savepoint.")
@click.option("-d", "--drain", is_flag=True, help="Bring event time to its end first: all windows and timers fire.")
@click.argument("job")
@address_option
@settings_option
@json_option
def stop(job: str, directory: str | None, drain: bool, address: str | None, settings: dict[str, str]) -> None:
    """Stop JOB with a savepoint, from which it (or its next version) can go on.

    \b
    headrace stop -p file:///data/savepoints wordcount
    headrace run -s SAVEPOINT wordcount_v2.py
    """
    service = _service(address, settings)
    job_id = service.resolve(job)
    path = service.stop(job_id, directory, drain)
    show({"jobid": job_id, "savepoint": path}, [f"Savepoint: {path}"])


@click.command()
@click.option("-d", "--dispose", metavar="SAVEPOINT", help="Delete this savepoint.")
@click.argument("job", required=False)
@click.argument("directory", required=False)
@address_option
@settings_option
@json_option
def savepoint(
    dispose: str | None, job: str | None, directory: str | None, address: str | None, settings: dict[str, str]
) -> None:
    """Take a savepoint of JOB into DIRECTORY (default: the configured one) while it runs on, or delete one.

    \b
    headrace savepoint wordcount file:///data/savepoints
    headrace savepoint -d file:///data/savepoints/savepoint-5f3a12-0b9c
    """
    service = _service(address, settings)
    if dispose is not None:
        if job is not None:
            raise click.UsageError("--dispose deletes a savepoint: it takes no JOB.")
        service.dispose(dispose)
        show({"disposed": dispose}, [f"Deleted: {dispose}"])
        return
    if job is None:
        raise click.UsageError("Missing argument 'JOB'.")
    job_id = service.resolve(job)
    path = service.savepoint(job_id, directory)
    show({"jobid": job_id, "savepoint": path}, [f"Savepoint: {path}"])


@click.command()
@click.argument("job")
@address_option
@settings_option
@json_option
def checkpoint(job: str, address: str | None, settings: dict[str, str]) -> None:
    """Make a checkpoint of JOB now, whatever its interval.

    \b
    headrace checkpoint wordcount
    """
    service = _service(address, settings)
    job_id = service.resolve(job)
    number = service.checkpoint(job_id)
    show({"jobid": job_id, "checkpoint": number}, [f"Checkpoint {number} of job {job_id}"])


@click.command()
@click.option("-p", "--parallelism", type=click.IntRange(min=1), required=True, help="The new parallelism.")
@click.argument("job")
@address_option
@settings_option
@json_option
def rescale(job: str, parallelism: int, address: str | None, settings: dict[str, str]) -> None:
    """Let JOB go on with another parallelism, without a restart.

    \b
    headrace rescale -p 8 wordcount
    """
    service = _service(address, settings)
    job_id = service.resolve(job)
    service.rescale(job_id, parallelism)
    show({"jobid": job_id, "parallelism": parallelism}, [f"Job {job_id} goes on with parallelism {parallelism}."])
