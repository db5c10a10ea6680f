"""Run any statement: find what runs it, or say why it cannot run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.explain_detail import NAMES
from headrace.table.plan.relations import Relation, Sink
from headrace.table.sql import parse_statements
from headrace.table.sql.syntax import statements as s
from headrace.table.sql.syntax.node import Node
from headrace.table.sql.syntax.queries import Query
from headrace.table.statements.altering import alter, alter_function
from headrace.table.statements.creating import create_function, create_object, create_table, create_view
from headrace.table.statements.dropping import drop
from headrace.table.statements.results import texts
from headrace.table.statements.settings import jar, module, set_option, use
from headrace.table.statements.showing import describe, show
from headrace.table.table_result import TableResult

if TYPE_CHECKING:
    from headrace.table.session import TableSession

Run = Callable[["TableSession", Any, str], TableResult]


def only_statement(text: str, call: str) -> Node:
    """Return the statement of a text that has exactly one."""
    found = parse_statements(text)
    if len(found) != 1:
        raise SqlValidationError(
            f"Unsupported SQL query! {call}() only accepts a single SQL statement",
            seen=f"{len(found)} statements",
            remedy="execute them one by one",
        )
    return found[0]


def execute(session: TableSession, text: str) -> TableResult:
    """Run a statement."""
    node = only_statement(text, "execute_sql")
    try:
        return run(session, node, text)
    except SqlValidationError as error:
        shown = error.located(text)
        if shown is error:
            raise
        raise shown from error.__cause__


def run(session: TableSession, node: Node, text: str) -> TableResult:
    """Run a statement that is parsed."""
    if isinstance(node, Query):
        return session.query(session.analyse(node, text))
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(session, node, text)
    why = _REFUSED.get(type(node), "it is not supported")
    raise SqlNotSupportedError(f"This statement cannot run: {why}", position=getattr(node, "position", -1))


def _insert(session: TableSession, node: s.Insert, text: str) -> TableResult:
    return session.insert([_sink(session, node, text)])


def _sink(session: TableSession, node: Node, text: str) -> Sink:
    if not isinstance(node, s.Insert):
        raise SqlValidationError(
            "Only INSERT statements can be part of a statement set", position=getattr(node, "position", -1)
        )
    if node.upsert or node.conflict is not None:
        raise SqlNotSupportedError("UPSERT is not supported", position=node.position, remedy="use INSERT INTO")
    return session.analyse_insert(node, text)


def insert_of(session: TableSession, text: str) -> Sink:
    """Return the sink of a text that is one INSERT statement, for statement sets."""
    return _sink(session, only_statement(text, "add_insert_sql"), text)


def _statement_set(session: TableSession, node: s.StatementSet, text: str) -> TableResult:
    return session.insert([_sink(session, each, text) for each in node.statements])


def _execute(session: TableSession, node: s.Execute, text: str) -> TableResult:
    return run(session, node.statement, text)


def _explain(session: TableSession, node: s.Explain, text: str) -> TableResult:
    plan = session.explain(explained(session, node.statement, text), [NAMES[each] for each in node.details])
    return texts(["result"], [(plan,)], raw=True)


def explained(session: TableSession, node: Node, text: str) -> Sequence[Relation]:
    """Return the relations whose plans EXPLAIN shows."""
    if isinstance(node, s.Explain):
        return explained(session, node.statement, text)
    if isinstance(node, s.Execute):
        return explained(session, node.statement, text)
    if isinstance(node, Query):
        return [session.analyse(node, text)]
    if isinstance(node, s.StatementSet):
        return [_sink(session, each, text) for each in node.statements]
    if isinstance(node, s.Insert):
        return [_sink(session, node, text)]
    raise SqlNotSupportedError(
        "EXPLAIN supports queries, INSERT and STATEMENT SET only", position=getattr(node, "position", -1)
    )


_RULES: dict[type[Node], Run] = {
    s.CreateTable: create_table,
    s.CreateView: create_view,
    s.CreateObject: create_object,
    s.CreateFunction: create_function,
    s.AlterObject: alter,
    s.AlterFunction: alter_function,
    s.Drop: drop,
    s.Insert: _insert,
    s.StatementSet: _statement_set,
    s.Execute: _execute,
    s.Explain: _explain,
    s.Describe: describe,
    s.Show: show,
    s.Use: use,
    s.SetOption: set_option,
    s.ModuleStatement: module,
    s.Jar: jar,
}

_NO_CONNECTOR = "no connector of this version can change rows in place; use INSERT INTO"
_NO_PLANS = "plans are not stored; run the INSERT statement itself, and take savepoints to upgrade a job"
_REFUSED: dict[type[Node], str] = {
    s.Update: f"UPDATE: {_NO_CONNECTOR}",
    s.Delete: f"DELETE: {_NO_CONNECTOR}",
    s.Merge: f"MERGE: {_NO_CONNECTOR}",
    s.TruncateTable: f"TRUNCATE TABLE: {_NO_CONNECTOR}",
    s.CreateMaterializedTable: "materialized tables need a workflow scheduler; use CREATE TABLE and INSERT INTO",
    s.CreateModel: "models are not supported; call a model from a Python function",
    s.CompilePlan: f"COMPILE PLAN: {_NO_PLANS}",
    s.ExecutePlan: f"EXECUTE PLAN: {_NO_PLANS}",
    s.CallProcedure: "CALL: the catalogs of this version have no procedures",
    s.AnalyzeTable: "ANALYZE TABLE: the planner uses no statistics",
    s.StopJob: "STOP JOB: use `headrace stop`, or the job client of the result of execute_sql",
    s.StatementSetEdge: "BEGIN and END belong to scripts; use EXECUTE STATEMENT SET BEGIN ... END, or create_statement_set()",
}
