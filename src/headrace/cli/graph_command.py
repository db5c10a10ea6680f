"""`headrace graph PROGRAM`: show the plan of a program as a picture or as Flink's JSON, without running its job."""

from __future__ import annotations

from pathlib import Path

import click

from headrace.cli.launch import planned
from headrace.graph.drawing import PICTURES
from headrace.graph.job_graph import build_job_graph
from headrace.graph.json_plan import plan_as_json


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "-f",
    "--format",
    "kind",
    type=click.Choice([*PICTURES, "json"]),
    help="Format of the plan. Default: by the suffix of --output, else mermaid.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.argument("program", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def graph(kind: str | None, output: Path | None, program: str, arguments: tuple[str, ...]) -> None:
    """Show the plan of PROGRAM without running its job.

    The program runs up to its first execute(). ARGUMENTS are passed on to it.
    """
    stream_graph = planned(program, arguments)
    kind = kind or ("mermaid" if output is None else _ENDINGS.get(output.suffix, "mermaid"))
    text = plan_as_json(stream_graph) if kind == "json" else PICTURES[kind](build_job_graph(stream_graph))
    if output is None:
        click.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")


_ENDINGS = {".svg": "svg", ".dot": "graphviz", ".gv": "graphviz", ".json": "json"}
