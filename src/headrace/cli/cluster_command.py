"""`headrace cluster start|stop|status`: manage a Spark cluster and the job service on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from headrace.cli.local_cluster import LocalCluster
from headrace.cli.options import json_option, settings_option, show
from headrace.config import headrace_keys as options
from headrace.config.config_file import load_configuration


@click.group()
def cluster() -> None:
    """Start, inspect and stop a Spark cluster and the job service on this machine.

    \b
    headrace cluster start                                master, two workers, service
    headrace cluster start -w 1 -D rest.port=8082
    headrace run -d job.py
    headrace cluster status
    headrace cluster stop
    """


@cluster.command()
@click.option("-w", "--workers", type=click.IntRange(min=1), help="Number of workers. [default: 2]")
@settings_option
@json_option
def start(workers: int | None, settings: dict[str, str]) -> None:
    """Start what is not running yet: a Spark master, workers, and the job service.

    If a process dies, the same command restarts it while the jobs keep running.
    """
    if workers is not None:
        settings = {**settings, options.CLUSTER_WORKERS.key: str(workers)}
    local = LocalCluster(load_configuration(overrides=settings))
    started = local.start()
    status = local.status()
    said = f"Started: {', '.join(started)}." if started else "Everything is running already."
    link = local.browser_link()
    hint = "           (the link works once, for ten minutes; `headrace ui` prints another)"
    lines = [] if link is None else [f"Web UI     {link}", hint]
    show({"started": started, **status}, [said, *_lines(status), *lines])


@cluster.command()
@settings_option
@json_option
def stop(settings: dict[str, str]) -> None:
    """Cancel all jobs and stop service, workers and master.

    To continue a job later, stop it first with `headrace stop`.
    """
    done = LocalCluster(load_configuration(overrides=settings)).stop()
    lines = [f"Cancelled job {job}." for job in done["cancelled"]]
    lines += [f"{name} did not end in time and was killed." for name in done["forced"]]
    lines.append(f"Stopped: {', '.join(done['ended'])}." if done["ended"] else "Nothing was running.")
    show(done, lines)


@cluster.command("status")
@settings_option
@json_option
def status_of_cluster(settings: dict[str, str]) -> None:
    """Show the processes; the exit code is 1 if one is missing or none was started."""
    status = LocalCluster(load_configuration(overrides=settings)).status()
    show(status, _lines(status))
    if not status["running"]:
        sys.exit(1)


def _lines(status: dict[str, Any]) -> Iterator[str]:
    if not status["processes"]:
        yield "No cluster was started. `headrace cluster start` starts one."
        return
    for process in status["processes"]:
        yield f"{process['name']:<10} {process['pid']:>8}  {'running' if process['alive'] else 'DEAD'}"
    spark, service = status["spark"], status["service"]
    yield f"Spark      {spark['master']}, {spark['workers']} workers, {spark['cores-used']} of {spark['cores']} cores used"
    yield f"Service    {service['url']}, {service['jobs']} running jobs"
