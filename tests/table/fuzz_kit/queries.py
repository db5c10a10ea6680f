"""Random queries as pairs of texts: one for headrace (Flink SQL), one for DuckDB.

Both texts mean the same where the dialects differ: integer division, modulo of negative numbers, string functions. Queries
never fail on a row (no division by a column, no overflow) and are deterministic: LIMIT only behind a total order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

NUMBERS = ("INT", "BIGINT", "DOUBLE")


@dataclass(frozen=True)
class Text:
    """An expression or query in both dialects."""

    flink: str
    duck: str

    def map(self, change: Callable[[str], str]) -> Text:
        """Return both texts changed alike."""
        return Text(change(self.flink), change(self.duck))


def joined(pattern: str, *parts: Text) -> Text:
    """Return a pattern with `{}` filled in, in both dialects."""
    return Text(pattern.format(*(part.flink for part in parts)), pattern.format(*(part.duck for part in parts)))


def same(text: str) -> Text:
    """Return a text that is the same in both dialects."""
    return Text(text, text)


class QueryMaker:
    """Makes random queries over tables `t1`, `t2` and `t3` that have the columns of `data.COLUMNS`."""

    def __init__(self, random: Random, columns: dict[str, str]) -> None:
        """`columns` are the columns of every table, with their types."""
        self.random = random
        self.columns = columns

    # -- queries ----------------------------------------------------------------------------------------------------

    def query(self) -> Text:
        """Return a random query."""
        often = (self._plain, self._grouped, self._join)
        rest = (self._set_operation, self._nested, self._membership, self._over, self._limited, self._distinct)
        return self.random.choice((*often, *often, *rest))()

    def _source(self, alias: str) -> Text:
        return same(f"{self.random.choice(['t1', 't2', 't3'])} AS {alias}")

    def _plain(self) -> Text:
        items = joined(", ".join(["{}"] * 3), *(self.value(self._kind(), "a") for _ in range(3)))
        return joined("SELECT {} FROM {} WHERE {}", items, self._source("a"), self.condition("a"))

    def _distinct(self) -> Text:
        items = joined("{} AS p, {} AS q", self.value(self._kind(), "a", 1), self.value("INT", "a", 1))
        return joined("SELECT DISTINCT {} FROM {} WHERE {}", items, self._source("a"), self.condition("a"))

    def _grouped(self) -> Text:
        source, where = self._source("a"), self.condition("a")
        key = self.value(self.random.choice(["INT", "VARCHAR", "BOOLEAN", "DATE"]), "a", 1)
        calls = joined("{} AS c1, {} AS c2", self._aggregate("a"), self._aggregate("a"))
        if self.random.random() < 0.2:
            return joined("SELECT {} FROM {} WHERE {}", calls, source, where)
        having = same(f"HAVING COUNT(*) > {self.random.randrange(3)}") if self.random.random() < 0.4 else same("")
        if self.random.random() < 0.15:
            sets = self.random.choice(["ROLLUP (k, l)", "CUBE (k, l)", "GROUPING SETS ((k, l), (k), ())"])
            inner = joined("SELECT {} AS k, a.ok AS l, a.* FROM {} WHERE {}", key, source, where)
            calls = joined("{} AS c1, {} AS c2", self._aggregate("g"), self._aggregate("g"))
            having = same("HAVING COUNT(*) > 0")  # the empty set has no row for an empty table, as in Flink
            return joined(f"SELECT k, l, {{}} FROM ({{}}) AS g GROUP BY {sets} {{}}", calls, inner, having)
        return joined("SELECT {} AS k, {} FROM {} WHERE {} GROUP BY {} {}", key, calls, source, where, key, having)

    def _join(self) -> Text:
        kind = self.random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        on = self.random.choice(["a.i = b.i", "a.j = b.j", "a.s = b.s AND a.j = b.j", "a.d = b.d"])
        extra = joined("AND {}", self.comparison("a", "b")) if self.random.random() < 0.4 else same("")
        items = joined("{}, {}, {}", self.value("INT", "a"), self.value(self._kind(), "b"), self.value("VARCHAR", "a"))
        where = joined("WHERE {}", self.condition("a")) if self.random.random() < 0.4 else same("")
        text = joined(
            f"SELECT {{}} FROM {{}} {kind} {{}} ON {on} {{}} {{}}",
            items,
            self._source("a"),
            self._source("b"),
            extra,
            where,
        )
        return text

    def _set_operation(self) -> Text:
        kind = self.random.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"])
        types = [self._kind(), "INT"]

        def side(alias: str) -> Text:
            items = joined("{} AS p, {} AS q", *(self.value(each, alias, 0) for each in types))
            return joined("SELECT {} FROM {} WHERE {}", items, self._source(alias), self.condition(alias))

        return joined(f"({{}}) {kind} ({{}})", side("a"), side("b"))

    def _nested(self) -> Text:
        inner = joined(
            "SELECT {} AS k, {} AS v FROM {} WHERE {}",
            self.value("INT", "a"),
            self.value("BIGINT", "a"),
            self._source("a"),
            self.condition("a"),
        )
        if self.random.random() < 0.5:
            return joined("SELECT k, COUNT(*) AS n, SUM(v) AS m FROM ({}) AS q GROUP BY k", inner)
        return joined("WITH q AS ({}) SELECT q.k, r.v FROM q JOIN q AS r ON q.k = r.k WHERE q.v < r.v", inner)

    def _membership(self) -> Text:
        inner_condition = self.condition("b", 1)
        form = self.random.choice(
            [
                "a.j IN (SELECT b.j FROM {} WHERE {})",
                "a.j NOT IN (SELECT b.j FROM {} WHERE b.j IS NOT NULL AND {})",
                "EXISTS (SELECT * FROM {} WHERE b.j = a.j AND {})",
                "NOT EXISTS (SELECT * FROM {} WHERE b.j = a.j AND {})",
                "a.j > (SELECT MIN(b.j) FROM {} WHERE {})",
                "a.x < (SELECT MAX(b.x) FROM {} WHERE b.s = a.s AND {})",
            ]
        )
        condition = joined(form, self._source("b"), inner_condition)
        return joined("SELECT a.i, {} FROM {} WHERE {}", self.value(self._kind(), "a"), self._source("a"), condition)

    def _over(self) -> Text:
        call = self.random.choice(
            [
                "ROW_NUMBER()",
                "RANK()",
                "DENSE_RANK()",
                "SUM(a.b)",
                "COUNT(a.x)",
                "MIN(a.j)",
                "MAX(a.s)",
                "LAG(a.j)",
                "LEAD(a.j)",
            ]
        )
        order = "a.i" if call[:3] not in ("RAN", "DEN") else self.random.choice(["a.i", "a.i DESC"])
        over = f"{call} OVER (PARTITION BY {self.random.choice(['a.j', 'a.s', 'a.ok'])} ORDER BY {order})"
        return joined(f"SELECT a.i, {over} AS w FROM {{}} WHERE {{}}", self._source("a"), self.condition("a"))

    def _limited(self) -> Text:
        order = self.random.choice(["a.i", "a.i DESC"])
        tail = f"ORDER BY {order} LIMIT {self.random.randrange(1, 20)}"
        if self.random.random() < 0.3:
            tail += f" OFFSET {self.random.randrange(5)}"
        return joined(
            f"SELECT a.i, {{}} AS v FROM {{}} WHERE {{}} {tail}",
            self.value(self._kind(), "a"),
            self._source("a"),
            self.condition("a"),
        )

    # -- expressions ------------------------------------------------------------------------------------------------

    def _kind(self) -> str:
        return self.random.choice(list(self.columns.values()))

    def column(self, kind: str, alias: str) -> Text:
        """Return a column of a type."""
        return same(f"{alias}.{self.random.choice([name for name, each in self.columns.items() if each == kind])}")

    def value(self, kind: str, alias: str, depth: int = 2) -> Text:
        """Return an expression of a type."""
        if depth == 0 or self.random.random() < 0.35:
            return self.column(kind, alias)
        if self.random.random() < 0.2:
            return joined(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.condition(alias, depth - 1),
                self.value(kind, alias, depth - 1),
                self.value(kind, alias, depth - 1),
            )
        if self.random.random() < 0.15:
            return joined("COALESCE({}, {})", self.value(kind, alias, depth - 1), self.column(kind, alias))
        one = self.value(kind, alias, depth - 1)
        match kind:
            case "INT" | "BIGINT":
                small = self.random.randrange(1, 9)
                return self.random.choice(
                    [
                        joined(f"({{}} + {small})", one),
                        joined(f"({{}} - {small})", one),
                        joined("(- {})", one),
                        joined("ABS({})", one),
                        Text(f"({one.flink} / {small})", f"({one.duck} // {small})"),
                        joined(f"MOD({{}}, {small})", one),
                    ]
                )
            case "DOUBLE":
                return self.random.choice(
                    [
                        joined("({} * 2)", one),
                        joined("({} + {})", one, self.column("DOUBLE", alias)),
                        joined("FLOOR({})", one),
                        joined("ABS({})", one),
                    ]
                )
            case "VARCHAR":
                return self.random.choice(
                    [
                        joined("UPPER({})", one),
                        joined("LOWER({})", one),
                        joined("({} || '-' || {})", one, self.column("VARCHAR", alias)),
                        joined("SUBSTRING({} FROM 2)", one),
                        joined("REPLACE({}, 'a', 'zz')", one),
                        joined("TRIM({})", one),
                    ]
                )
            case "BOOLEAN":
                return joined("({})", self.condition(alias, depth - 1))
            case _:
                return one

    def comparison(self, left: str, right: str) -> Text:
        """Return a comparison of values of two aliases."""
        kind = self.random.choice([*NUMBERS, "VARCHAR", "DATE"])
        operator = self.random.choice(["=", "<>", "<", "<=", ">", ">="])
        return joined(f"{{}} {operator} {{}}", self.value(kind, left, 1), self.value(kind, right, 1))

    def condition(self, alias: str, depth: int = 2) -> Text:
        """Return a condition."""
        if depth > 0 and self.random.random() < 0.4:
            parts = self.condition(alias, depth - 1), self.condition(alias, depth - 1)
            return self.random.choice(
                [joined("({} AND {})", *parts), joined("({} OR {})", *parts), joined("(NOT ({}))", parts[0])]
            )
        return self.random.choice(
            [
                self.comparison(alias, alias),
                joined("{} IS NULL", self.column(self._kind(), alias)),
                joined("{} IS NOT NULL", self.column(self._kind(), alias)),
                joined("{} BETWEEN -2 AND 3", self.value("INT", alias, 1)),
                joined("{} IN (1, 2, 5)", self.value("INT", alias, 1)),
                joined("{} LIKE 'a%'", self.value("VARCHAR", alias, 1)),
                joined("{} IS NOT DISTINCT FROM {}", self.column("INT", alias), self.column("INT", alias)),
                same(f"{alias}.ok"),
                joined("{} < DATE '2024-07-01'", self.column("DATE", alias)),
            ]
        )

    def _aggregate(self, alias: str) -> Text:
        kind = self.random.choice(["BIGINT", "INT", "VARCHAR", "DOUBLE", "DATE"])
        column = self.column(kind, alias)
        if kind in ("BIGINT", "DOUBLE"):
            function = self.random.choice(["SUM({})", "COUNT(DISTINCT {})", "MIN({})", "MAX({})", "COUNT({})"])
        else:
            function = self.random.choice(["COUNT({})", "MIN({})", "MAX({})", "COUNT(DISTINCT {})"])
        if kind == "DOUBLE" and self.random.random() < 0.3:
            function = self.random.choice(["AVG({})", "STDDEV_POP({})", "VAR_SAMP({})"])
        call = joined(function, column)
        if self.random.random() < 0.2:
            call = joined(f"{{}} FILTER (WHERE {alias}.ok)", call)
        return self.random.choice([call, call, same("COUNT(*)")])
