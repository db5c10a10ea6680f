"""The commands for a running service: `headrace list|cancel|stop|savepoint|checkpoint|rescale|ui`."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click

from headrace.cli.options import show
from headrace.cli.service_client import TERMINAL, ServiceClient, service_options

_SCHEDULED = ("CREATED", "INITIALIZING", "RESTARTING")
_CANCEL_SECONDS = 60.0


@click.command("list")
@click.option("-r", "--running", is_flag=True, help="Show only running jobs.")
@click.option("-s", "--scheduled", is_flag=True, help="Show only jobs that are starting.")
@click.option("-a", "--all", "all_jobs", is_flag=True, help="Show ended jobs too.")
@service_options
def list_jobs(running: bool, scheduled: bool, all_jobs: bool, service: ServiceClient) -> None:
    """List the jobs of the service.

    \b
    headrace list              running and starting jobs
    headrace list --all --json all jobs, for a script
    """
    jobs = service.jobs()
    if running or scheduled:
        wanted = [j for j in jobs if (running and _runs(j)) or (scheduled and j["state"] in _SCHEDULED)]
    else:
        wanted = jobs if all_jobs else [j for j in jobs if j["state"] not in TERMINAL]
    show(wanted, [_line(job) for job in wanted] or ["No such jobs."])


def _runs(job: dict[str, Any]) -> bool:
    return job["state"] not in TERMINAL and job["state"] not in _SCHEDULED


def _line(job: dict[str, Any]) -> str:
    started = datetime.fromtimestamp(job["start-time"] / 1000).strftime("%Y-%m-%d %H:%M:%S")
    return f"{started}  {job['jid']}  {job['state']:<10}  {job['name']}"


@click.command()
@click.argument("job")
@service_options
def cancel(job: str, service: ServiceClient) -> None:
    """Cancel JOB (an id, the beginning of one, or a name): it ends at once, without a savepoint.

    To continue later from where it was, use `headrace stop` instead.

    \b
    headrace cancel 5f3a
    """
    job_id = service.resolve(job)
    state = service.cancel(job_id, _CANCEL_SECONDS)
    show({"jobid": job_id, "state": state}, [f"Job {job_id}: {state}"])
    if state != "CANCELED":
        sys.exit(1)


@click.command()
@click.option("-p", "--savepoint-path", "directory", metavar="DIR", help="Where to write the savepoint.")
@click.option(
    "-d", "--drain", is_flag=True, help="Advance event time to its end first, so that all windows and timers fire."
)
@click.argument("job")
@service_options
def stop(job: str, directory: str | None, drain: bool, service: ServiceClient) -> None:
    """Stop JOB with a savepoint, from which it, or its next version, can continue.

    \b
    headrace stop -p file:///data/savepoints wordcount
    headrace run -s SAVEPOINT wordcount_v2.py
    """
    job_id = service.resolve(job)
    path = service.stop(job_id, directory, drain)
    show({"jobid": job_id, "savepoint": path}, [f"Savepoint: {path}"])


@click.command()
@click.option("-d", "--dispose", metavar="SAVEPOINT", help="Delete this savepoint.")
@click.argument("job", required=False)
@click.argument("directory", required=False)
@service_options
def savepoint(dispose: str | None, job: str | None, directory: str | None, service: ServiceClient) -> None:
    """Take a savepoint of JOB into DIRECTORY (default: the configured one) while it keeps running, or delete a savepoint.

    \b
    headrace savepoint wordcount file:///data/savepoints
    headrace savepoint -d file:///data/savepoints/savepoint-5f3a12-0b9c
    """
    if dispose is not None:
        if job is not None:
            raise click.UsageError("--dispose deletes a savepoint and does not take a JOB.")
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
@service_options
def checkpoint(job: str, service: ServiceClient) -> None:
    """Trigger a checkpoint of JOB now, whatever its interval.

    \b
    headrace checkpoint wordcount
    """
    job_id = service.resolve(job)
    number = service.checkpoint(job_id)
    show({"jobid": job_id, "checkpoint": number}, [f"Checkpoint {number} of job {job_id}"])


@click.command()
@click.option("-p", "--parallelism", type=click.IntRange(min=1), required=True, help="The new parallelism.")
@click.argument("job")
@service_options
def rescale(job: str, parallelism: int, service: ServiceClient) -> None:
    """Change the parallelism of JOB without a restart.

    \b
    headrace rescale -p 8 wordcount
    """
    job_id = service.resolve(job)
    service.rescale(job_id, parallelism)
    show({"jobid": job_id, "parallelism": parallelism}, [f"Job {job_id} continues with parallelism {parallelism}."])


@click.command()
@service_options
def ui(service: ServiceClient) -> None:
    """Print a link to the web UI. It signs in one browser, once, within ten minutes.

    Works for the job service, and with -m for a program that serves its own jobs (headrace.ui).

    \b
    headrace ui
    headrace ui -m 127.0.0.1:8082
    """
    link = service.browser_link()
    show({"link": link}, [link])
