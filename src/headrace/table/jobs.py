"""Run plans as jobs: collect the rows of a query, or write the sinks of INSERT statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headrace.datastream.streams.closeable_iterator import CloseableIterator
from headrace.graph.specs import CollectSink
from headrace.graph.transformations import TransformationKind
from headrace.table.catalogs.schemas import PhysicalColumn, ResolvedSchema, schema_of_row
from headrace.table.explain_detail import NAMES
from headrace.table.plan.explain import explain as explain_plans
from headrace.table.plan.planner import plan, translate, translate_all
from headrace.table.plan.relations import Relation, Sink
from headrace.table.plan.settings import PlanSettings
from headrace.table.printing import MOST
from headrace.table.result_kind import ResultKind
from headrace.table.row_texts import cell_texts
from headrace.table.table_result import TableResult
from headrace.types.logical_types import BigIntType

if TYPE_CHECKING:
    from headrace.table.session import TableSession

_NUMBERS = itertools.count()


def plan_settings(session: TableSession) -> PlanSettings:
    """Return what the planner reads from the options of a session."""
    return PlanSettings.of(session.options(), session.batch)


def start_query(session: TableSession, relation: Relation) -> TableResult:
    """Start the job of a query. Its result reads the rows while the job runs."""
    env = session.job_environment()
    result = translate(plan(relation, plan_settings(session)), env, "collect")
    stream, collect_id = result.stream, f"table-{next(_NUMBERS)}"
    sink = stream.sink_operator(CollectSink(collect_id), "Collect table sink")
    before = stream.transformation
    # The same parallelism avoids an exchange, so that the rows of a subtask keep their order.
    same = before.parallelism if before.kind is TransformationKind.OPERATOR else 1
    env.registry.update(sink.transformation_id, parallelism=same, non_parallel=before.non_parallel)
    job = env.submit(session.config.get("pipeline.name", "collect"))
    rows = CloseableIterator(job, collect_id)
    types = relation.row_type.field_types()
    return TableResult(
        schema_of_row(relation.row_type),
        rows,
        kinds=result.kinds,
        streaming=not session.batch,
        known=False,
        texts=cell_texts(types, session.functions()),
        widest=int(session.config.get("table.display.max-column-width", str(MOST))),
        job=job,
        job_ends=True,
        close=rows.close,
    )


def start_inserts(session: TableSession, sinks: Sequence[Sink]) -> TableResult:
    """Start one job for some sinks. Its result has one row: -1 for each sink, like Flink's."""
    env = session.job_environment()
    settings = plan_settings(session)
    translate_all([plan(sink, settings) for sink in sinks], env)
    names = [".".join(sink.name) for sink in sinks]
    job = env.submit(session.config.get("pipeline.name", f"insert-into_{','.join(names)}"))
    if session.config.get("table.dml-sync", "false").lower() == "true":
        job.wait()
    columns = tuple(PhysicalColumn(_numbered(names, index), BigIntType()) for index in range(len(names)))

    def rows() -> Iterator[Any]:
        job.wait()
        yield (-1,) * len(names)

    return TableResult(ResolvedSchema(columns), rows(), kind=ResultKind.SUCCESS_WITH_CONTENT, raw=True, job=job)


def attach(session: TableSession, sinks: Sequence[Sink]) -> None:
    """Add sinks to the job of the stream environment."""
    settings = plan_settings(session)
    translate_all([plan(sink, settings) for sink in sinks], session.env)


def _numbered(names: Sequence[str], index: int) -> str:
    """Return the name of a result column; a table that is written several times gets numbers."""
    if names.count(names[index]) == 1:
        return names[index]
    return f"{names[index]}_{names[: index + 1].count(names[index])}"


def explain(session: TableSession, relations: Sequence[Relation], details: Sequence[int] = ()) -> str:
    """Return the plans of queries and sinks."""
    settings = plan_settings(session)
    plans = [plan(relation, settings) for relation in relations]
    names = {number: name for name, number in NAMES.items()}
    return explain_plans(plans, [names.get(detail, str(detail)) for detail in details], session.job_environment())
