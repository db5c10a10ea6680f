"""`headrace doctor`: check whether this machine can run jobs, and say how to fix what is wrong."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from headrace.cli.doctor_checks import Finding, check_everything
from headrace.cli.options import json_option, settings_option, show, wants_json

__all__ = ["doctor"]


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
