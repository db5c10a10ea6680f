"""Table: the rows of a query, which runs when the table is executed."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.table import table_queries as queries
from headrace.table.catalogs.schemas import ResolvedSchema, schema_of_row
from headrace.table.grouped_tables import (
    GroupedTable,
    GroupWindowedTable,
    OverWindowedTable,
    WindowGroupedTable,
)
from headrace.table.plan.relations import Aggregate, Relation, Sort
from headrace.table.table_expressions import Translation

if TYPE_CHECKING:
    from headrace.table.expression import Expression
    from headrace.table.table_descriptor import TableDescriptor
    from headrace.table.table_environment import TableEnvironment
    from headrace.table.table_pipeline import TablePipeline
    from headrace.table.table_result import TableResult
    from headrace.table.table_schema import TableSchema
    from headrace.table.window import GroupWindow, OverWindow

__all__ = ["GroupWindowedTable", "GroupedTable", "OverWindowedTable", "Table", "WindowGroupedTable"]


class Table:
    """A query. Tables are made by a TableEnvironment and never change.

    >>> from headrace.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> table = t_env.from_elements([(1, "Hi"), (2, "Hello")], ["id", "text"])
    >>> table.print_schema()
    (
      `id` BIGINT,
      `text` STRING
    )
    """

    def __init__(self, relation: Relation, t_env: TableEnvironment) -> None:
        """Programs call methods of `TableEnvironment`."""
        self.relation, self.t_env = relation, t_env
        self._name: str | None = None

    def __str__(self) -> str:
        """Return a name under which SQL of the same environment can read the table."""
        if self._name is None:
            self._name = self.t_env.register_unnamed(self)
        return self._name

    # -- columns ------------------------------------------------------------------------------------------------------

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns."""
        return schema_of_row(self.relation.row_type)

    def get_schema(self) -> TableSchema:
        """Return the columns, in the older form."""
        from headrace.table.table_schema import TableSchema

        return TableSchema(self.relation.row_type.field_names(), self.relation.row_type.field_types())

    def print_schema(self) -> None:
        """Print the columns."""
        print(self.get_resolved_schema())  # noqa: T201

    def __getattr__(self, name: str) -> Expression:
        """Return a column by its name."""
        if name.startswith("_") or "relation" not in self.__dict__:
            raise AttributeError(f"'Table' object has no attribute {name!r}")
        return self._column(name)

    def __getitem__(self, name: str) -> Expression:
        """Return a column by its name."""
        if not isinstance(name, str):
            raise TypeMismatchError("A column is found by its name", seen=name)
        return self._column(name)

    def _column(self, name: str) -> Expression:
        from headrace.table.expressions import col

        columns = self.relation.row_type.field_names()
        if name in columns:
            return col(name)
        near = difflib.get_close_matches(name, columns, 1)
        meant = f"; did you mean '{near[0]}'?" if near else f" (its columns: {', '.join(columns)})"
        raise AttributeError(f"The table has no column '{name}'{meant}")

    def __dir__(self) -> list[str]:
        """Return the names of methods and columns, for notebooks."""
        return sorted({*super().__dir__(), *self.relation.row_type.field_names()})

    def select(self, *fields: Any) -> Table:
        """Return columns and values computed from them: `table.select(col("a"), (col("b") + 1).alias("c"))`."""
        return self.of(queries.selected(self, fields, self._translation()))

    def alias(self, field: str, *fields: str) -> Table:
        """Return the table with other names of its first columns."""
        return self.of(queries.aliased(self, (field, *fields)))

    def rename_columns(self, *fields: Expression) -> Table:
        """Return the table with other names of some columns: `col("a").alias("b")`."""
        return self.of(queries.with_renamed(self, fields))

    def add_columns(self, *fields: Expression) -> Table:
        """Return the table with more columns, whose names must be new."""
        return self.of(queries.with_added(self, fields, replacing=False))

    def add_or_replace_columns(self, *fields: Expression) -> Table:
        """Return the table with more columns, or others in the place of those with the same name."""
        return self.of(queries.with_added(self, fields, replacing=True))

    def drop_columns(self, *fields: Expression) -> Table:
        """Return the table without some columns."""
        return self.of(queries.without(self, fields))

    def _translation(self) -> Translation:
        return Translation(self.relation.row_type.field_names(), tables=self.t_env)

    # -- groups and windows -------------------------------------------------------------------------------------------

    def group_by(self, *fields: Any) -> GroupedTable:
        """Group rows by keys; `select` of the result has keys and aggregates."""
        return GroupedTable(self, fields)

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Group rows by a window; `group_by` of the result must have it."""
        return GroupWindowedTable(self, window)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Declare OVER windows, for aggregates in `select` of the result."""
        return OverWindowedTable(self, over_windows)

    def distinct(self) -> Table:
        """Return the rows without duplicates."""
        row = self.relation.row_type
        return self.of(Aggregate(row, self.relation, tuple(range(len(row))), ()))

    # -- joins --------------------------------------------------------------------------------------------------------

    def join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        """Return the pairs of rows for which a condition holds; `where` may follow instead."""
        return self.of(queries.joined(self, right, "INNER", join_predicate))

    def left_outer_join(self, right: Table, join_predicate: Expression | None = None) -> Table:
        """Return the pairs of rows for which a condition holds, and rows of the left table without a partner."""
        return self.of(queries.joined(self, right, "LEFT", join_predicate))

    def right_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        """Return the pairs of rows for which a condition holds, and rows of the right table without a partner."""
        return self.of(queries.joined(self, right, "RIGHT", join_predicate))

    def full_outer_join(self, right: Table, join_predicate: Expression) -> Table:
        """Return the pairs of rows for which a condition holds, and rows of both tables without a partner."""
        return self.of(queries.joined(self, right, "FULL", join_predicate))

    def join_lateral(self, table_function_call: Any, join_predicate: Expression | None = None) -> Table:
        """Return each row with the rows that a table function returns for it."""
        return self.of(queries.joined_lateral(self, table_function_call, "INNER", join_predicate))

    def left_outer_join_lateral(self, table_function_call: Any, join_predicate: Expression | None = None) -> Table:
        """Return each row with the rows that a table function returns for it, or with nulls if it returns none."""
        return self.of(queries.joined_lateral(self, table_function_call, "LEFT", join_predicate))

    # -- running ------------------------------------------------------------------------------------------------------

    def execute(self) -> TableResult:
        """Start the query and return its rows, which arrive while it runs."""
        return self.t_env.session.query(self.relation)

    def execute_insert(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TableResult:
        """Start a job that writes the rows to a table."""
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def insert_into(self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False) -> TablePipeline:
        """Return a pipeline that writes the rows to a table."""
        from headrace.table.table_pipeline import TablePipeline

        name = self.t_env.sink_path(table_path_or_descriptor, self)
        return TablePipeline(self.t_env.session.sink(self.relation, name, overwrite), self.t_env)

    def to_pandas(self) -> Any:
        """Run the query and return its rows as a pandas DataFrame; updates are applied."""
        from headrace.table.pandas_frames import to_pandas

        return to_pandas(self)

    def explain(self, *extra_details: int) -> str:
        """Return the plan of the query."""
        return self.t_env.session.explain([self.relation], extra_details)

    def print_explain(self, *extra_details: int) -> None:
        """Print the plan of the query."""
        print(self.explain(*extra_details))  # noqa: T201

    # -- rows ---------------------------------------------------------------------------------------------------------

    def where(self, predicate: Expression) -> Table:
        """Return the rows for which a condition is true."""
        return self.of(queries.filtered(self, predicate))

    def filter(self, predicate: Expression) -> Table:
        """Return the rows for which a condition is true."""
        return self.where(predicate)

    def order_by(self, *fields: Expression) -> Table:
        """Return the rows in order: `col("a").desc`. A stream is sorted by its time first."""
        return self.of(queries.ordered(self, fields))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Return the first rows after `offset`; which these are is defined after `order_by` only."""
        return self.offset(offset).fetch(fetch) if offset else self.fetch(fetch)

    def fetch(self, fetch: int) -> Table:
        """Return the first rows."""
        count = _count(fetch, "fetch")
        relation = self.relation
        if isinstance(relation, Sort) and relation.limit is None:
            return self.of(Sort(relation.row_type, relation.input, relation.keys, relation.offset, count))
        return self.of(Sort(relation.row_type, relation, (), 0, count))

    def offset(self, offset: int) -> Table:
        """Leave out the first rows."""
        count = _count(offset, "offset")
        relation = self.relation
        if isinstance(relation, Sort) and relation.limit is None and not relation.offset:
            return self.of(Sort(relation.row_type, relation.input, relation.keys, count, None))
        return self.of(Sort(relation.row_type, relation, (), count, None))

    # -- sets ---------------------------------------------------------------------------------------------------------

    def union(self, right: Table) -> Table:
        """Return the distinct rows of both tables."""
        return self._set(right, "UNION", False)

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables."""
        return self._set(right, "UNION", True)

    def intersect(self, right: Table) -> Table:
        """Return the distinct rows that are in both tables."""
        return self._set(right, "INTERSECT", False)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows that are in both tables, as often as in both."""
        return self._set(right, "INTERSECT", True)

    def minus(self, right: Table) -> Table:
        """Return the distinct rows that are not in the other table."""
        return self._set(right, "EXCEPT", False)

    def minus_all(self, right: Table) -> Table:
        """Return the rows that are not in the other table, as often as they are left over."""
        return self._set(right, "EXCEPT", True)

    def _set(self, right: Table, kind: str, every: bool) -> Table:
        if not isinstance(right, Table):
            raise TypeMismatchError(f"{kind} takes a table", seen=right)
        if right.t_env is not self.t_env:
            raise InvalidProgramError("Only tables from the same TableEnvironment can be combined.")
        words = f"{kind} ALL" if every else kind
        return self.t_env.sql_query(f"SELECT * FROM {self} {words} SELECT * FROM {right}")  # noqa: S608 - names that we made

    def of(self, relation: Relation) -> Table:
        """Return a table of the same environment."""
        return Table(relation, self.t_env)


def _count(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeMismatchError(f"{what} takes a number that is not negative", seen=value)
    return value
