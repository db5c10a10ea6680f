"""Statements other than queries."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.sql.syntax.expressions import Expression
from headrace.table.sql.syntax.node import Name, Node
from headrace.table.sql.syntax.queries import Hint, Query, Relation
from headrace.table.sql.syntax.tables import Distribution, Element, LikeClause, Options
from headrace.table.sql.syntax.types import TypeField

PartitionValue = tuple[str, Expression | None]
"""`column = value`, or a column alone."""


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """A statement that is not a query."""


# -- CREATE -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """`CREATE TABLE`, also with LIKE or AS."""

    name: Name
    elements: tuple[Element, ...] = ()
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: tuple[str, ...] = ()
    options: Options = ()
    like: LikeClause | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class CreateMaterializedTable(Statement):
    """`CREATE [OR ALTER] MATERIALIZED TABLE`."""

    name: Name
    elements: tuple[Element, ...]
    comment: str | None
    distribution: Distribution | None
    partitioned_by: tuple[str, ...]
    options: Options
    freshness: Expression | None
    refresh_mode: str | None
    start_mode: tuple[str, Expression | None] | None
    query: Query
    or_alter: bool = False


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """`CREATE VIEW name (columns) AS query`."""

    name: Name
    columns: tuple[str, ...]
    query: Query
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class CreateObject(Statement):
    """`CREATE CATALOG`, `DATABASE` or `CONNECTION`."""

    kind: str
    name: Name
    comment: str | None = None
    options: Options = ()
    if_not_exists: bool = False
    temporary: bool = False
    system: bool = False


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """`CREATE FUNCTION name AS 'class' LANGUAGE PYTHON`."""

    name: Name
    class_name: str
    language: str | None = None
    resources: tuple[tuple[str, str], ...] = ()
    options: Options = ()
    if_not_exists: bool = False
    temporary: bool = False
    system: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class CreateModel(Statement):
    """`CREATE MODEL`."""

    name: Name
    inputs: tuple[Element, ...] = ()
    outputs: tuple[Element, ...] = ()
    comment: str | None = None
    options: Options = ()
    query: Query | None = None
    if_not_exists: bool = False
    temporary: bool = False


# -- ALTER, DROP ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AlterAction(Node):
    """One change. `kind` names it, for example RENAME, SET, RESET, ADD, MODIFY, DROP COLUMNS, DROP PARTITIONS, AS."""

    kind: str
    name: Name | None = None
    names: tuple[Name, ...] = ()
    options: Options = ()
    keys: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    distribution: Distribution | None = None
    partitions: tuple[tuple[tuple[PartitionValue, ...], Options], ...] = ()
    if_exists: bool = False
    value: Node | str | None = None


@dataclass(frozen=True, slots=True)
class AlterObject(Statement):
    """`ALTER kind name action`, where `kind` is TABLE, VIEW, DATABASE, CATALOG, MODEL, CONNECTION or MATERIALIZED TABLE."""

    kind: str
    name: Name
    action: AlterAction
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterFunction(Statement):
    """`ALTER FUNCTION name AS 'class'`."""

    name: Name
    class_name: str
    language: str | None = None
    if_exists: bool = False
    temporary: bool = False
    system: bool = False


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """`DROP kind name`."""

    kind: str
    name: Name
    if_exists: bool = False
    temporary: bool = False
    system: bool = False
    behaviour: str | None = None


# -- data -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """`INSERT INTO` or `INSERT OVERWRITE`, also as UPSERT."""

    table: Name
    query: Query
    partition: tuple[PartitionValue, ...] = ()
    columns: tuple[Name, ...] = ()
    overwrite: bool = False
    upsert: bool = False
    hints: tuple[Hint, ...] = ()
    conflict: str | None = None
    extra_columns: tuple[TypeField, ...] = ()


@dataclass(frozen=True, slots=True)
class Delete(Statement):
    """`DELETE FROM table WHERE ...`."""

    table: Name
    alias: str | None = None
    where: Expression | None = None
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class Update(Statement):
    """`UPDATE table SET column = value WHERE ...`."""

    table: Name
    assignments: tuple[tuple[Name, Expression], ...]
    alias: str | None = None
    where: Expression | None = None
    hints: tuple[Hint, ...] = ()
    extra_columns: tuple[TypeField, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge(Statement):
    """`MERGE INTO table USING source ON ... WHEN MATCHED ... WHEN NOT MATCHED ...`."""

    table: Name
    alias: str | None
    source: Relation
    condition: Expression
    updates: tuple[tuple[Name, Expression], ...] | None = None
    insert_columns: tuple[Name, ...] = ()
    insert_row: Expression | None = None
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class TruncateTable(Statement):
    """`TRUNCATE TABLE name`."""

    name: Name


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """`STATEMENT SET BEGIN ...; ...; END`."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class StatementSetEdge(Statement):
    """`BEGIN STATEMENT SET` or `END`, which are separate statements in scripts."""

    begin: bool


@dataclass(frozen=True, slots=True)
class Execute(Statement):
    """`EXECUTE` before a statement."""

    statement: Node


@dataclass(frozen=True, slots=True)
class CompilePlan(Statement):
    """`COMPILE [AND EXECUTE] PLAN 'file' [IF NOT EXISTS] FOR ...`."""

    path: str
    statement: Node
    if_not_exists: bool = False
    execute: bool = False


@dataclass(frozen=True, slots=True)
class ExecutePlan(Statement):
    """`EXECUTE PLAN 'file'`."""

    path: str


@dataclass(frozen=True, slots=True)
class CallProcedure(Statement):
    """`CALL procedure(...)`."""

    call: Expression


# -- looking and settings ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """`EXPLAIN [details] statement`."""

    statement: Node
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """`DESCRIBE [kind] name`; `kind` defaults to TABLE."""

    kind: str
    name: Name | Node | str
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """`SHOW what [FROM where] [[NOT] LIKE pattern]`."""

    what: str
    name: Name | None = None
    source: Name | None = None
    like: str | None = None
    like_kind: str | None = None
    negated: bool = False
    partition: tuple[PartitionValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Use(Statement):
    """`USE [CATALOG] name`, or `USE MODULES a, b`. `kind`: DATABASE, CATALOG or MODULES."""

    kind: str
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """`SET 'key' = 'value'` or `RESET 'key'`; without a key, all options. `scope` is SYSTEM or SESSION of ALTER."""

    key: str | None = None
    value: Node | str | None = None
    reset: bool = False
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class ModuleStatement(Statement):
    """`LOAD MODULE name WITH (...)` or `UNLOAD MODULE name`."""

    name: str
    load: bool
    options: Options = ()


@dataclass(frozen=True, slots=True)
class Jar(Statement):
    """`ADD JAR 'path'` or `REMOVE JAR 'path'`."""

    path: str
    add: bool


@dataclass(frozen=True, slots=True)
class AnalyzeTable(Statement):
    """`ANALYZE TABLE name PARTITION (...) COMPUTE STATISTICS FOR COLUMNS ...`."""

    table: Name
    partition: tuple[PartitionValue, ...] = ()
    columns: tuple[str, ...] = ()
    all_columns: bool = False


@dataclass(frozen=True, slots=True)
class StopJob(Statement):
    """`STOP JOB 'id' WITH SAVEPOINT WITH DRAIN`."""

    job_id: str
    savepoint: bool = False
    drain: bool = False
