"""EXPLAIN: a query as a logical tree, as a physical plan and as the operators that run, in the layout of Flink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from headrace.table.errors import SqlValidationError
from headrace.table.plan.describe import Text, description
from headrace.table.plan.logical_text import logical_tree
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.ends import Sink
from headrace.table.plan.planner import PhysicalPlan, translate_all
from headrace.table.plan.planner import translate as translate_query
from headrace.table.plan.sharing import shared
from headrace.table.plan.unbounded_state import state_warnings

DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


def explain(plans: Sequence[PhysicalPlan], details: Iterable[str] = (), env: object = None) -> str:
    """Return the text of EXPLAIN for the plans of a statement (several for a statement set).

    `details` are those of the statement. JSON_EXECUTION_PLAN needs the environment `env` in which the job would run.
    """
    wanted = {str(getattr(each, "name", each)).upper() for each in details}
    unknown = wanted - set(DETAILS)
    if unknown:
        raise SqlValidationError(
            f"Unknown detail of EXPLAIN: {', '.join(sorted(unknown))}", expected=", ".join(DETAILS)
        )
    changelog = "CHANGELOG_MODE" in wanted
    roots = shared([each.root for each in plans])
    sections = [
        ("Abstract Syntax Tree", "\n".join(logical_tree(each.relation) for each in plans)),
        ("Optimized Physical Plan", _trees(roots, lambda node: description(node, Text(infix=False), changelog))),
        ("Optimized Execution Plan", _trees(roots, lambda node: description(node, Text(infix=True)), reuse=True)),
    ]
    if "JSON_EXECUTION_PLAN" in wanted:
        sections.append(("Physical Execution Plan", _json_plan(plans, env) + "\n"))
    warnings = [line for each in plans for line in state_warnings(each.root, each.settings)]
    if warnings:
        sections.append(("Warnings", "".join(f"{line}\n" for line in dict.fromkeys(warnings))))
    return "\n".join(f"== {title} ==\n{text}" for title, text in sections)


def _trees(roots: Sequence[Node], line: Callable[[Node], str], reuse: bool = False) -> str:
    uses: Counter[int] = Counter()
    for root in roots:
        _count(root, uses)
    numbers: dict[int, int] = {}
    found = []
    for root in roots:
        lines: list[str] = []
        _tree(root, "", "", line, lines, uses if reuse else Counter(), numbers)
        found.append("\n".join(lines) + "\n")
    return "\n".join(found)


def _count(node: Node, uses: Counter[int]) -> None:
    uses[id(node)] += 1
    if uses[id(node)] == 1:
        for each in node.inputs:
            _count(each, uses)


def _tree(
    node: Node,
    first: str,
    rest: str,
    line: Callable[[Node], str],
    lines: list[str],
    uses: Counter[int],
    numbers: dict[int, int],
) -> None:
    """Add the lines of a node and its inputs; a part that was shown before is only named."""
    if uses[id(node)] > 1:
        if id(node) in numbers:
            lines.append(f"{first}Reused(reference_id=[{numbers[id(node)]}])")
            return
        numbers[id(node)] = len(numbers) + 1
        lines.append(f"{first}{line(node)}(reuse_id=[{numbers[id(node)]}])")
    else:
        lines.append(f"{first}{line(node)}")
    for number, each in enumerate(node.inputs):
        last = number == len(node.inputs) - 1
        _tree(each, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "), line, lines, uses, numbers)


def _json_plan(plans: Sequence[PhysicalPlan], env: object) -> str:
    """Return the operators of the job as JSON, made in a scratch environment with the settings of `env`."""
    from headrace.datastream import StreamExecutionEnvironment

    if not isinstance(env, StreamExecutionEnvironment):
        raise SqlValidationError("JSON_EXECUTION_PLAN needs the environment of the job")
    scratch = StreamExecutionEnvironment.get_execution_environment(env.get_configuration())
    sinks = [each for each in plans if isinstance(each.root, Sink)]
    translate_all(sinks, scratch)
    for each in plans:
        if not isinstance(each.root, Sink):
            translate_query(each, scratch).stream.print().name("Collect table sink")
    return scratch.get_execution_plan()
