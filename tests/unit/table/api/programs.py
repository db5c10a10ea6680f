"""Runs programs of the Table API from a data file, over fixed tables."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from headrace.table import DataTypes, Row, TableEnvironment, expression, expressions, window
from headrace.table.functions.type_text import sql_text
from headrace.table.udf import udf, udtf

DATA = Path(__file__).parents[3] / "data" / "table"
EVENTS = """a,1,2024-01-01 00:00:01
b,2,2024-01-01 00:00:03
a,3,2024-01-01 00:00:04
a,4,2024-01-01 00:00:12
b,5,2024-01-01 00:00:13
b,6,2024-01-01 00:00:21
a,7,2024-01-01 00:00:31
"""


def lines() -> list[str]:
    """Return the programs."""
    texts = (DATA / "api_programs.txt").read_text().splitlines()
    return [each for each in texts if each and not each.startswith("#")]


def names(t_env: TableEnvironment, folder: Path) -> dict[str, Any]:
    """Return what programs may use: all functions, and the tables t, u and e."""
    found: dict[str, Any] = {}
    for module in (expressions, expression, window):
        found |= {name: getattr(module, name) for name in module.__all__}
    path = folder / "events.csv"
    path.write_text(EVENTS)
    t_env.execute_sql(
        "CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    d = DataTypes
    nested = d.ROW([d.FIELD("x", d.INT()), d.FIELD("y", d.STRING())])
    fields = {"a": d.INT(), "b": d.DOUBLE(), "c": d.STRING(), "d": d.BIGINT(), "l": d.ARRAY(d.INT())}
    fields |= {"m": d.MAP(d.STRING(), d.INT()), "r": nested}
    rows = [
        (1, 1.5, "Hi", 10, [1, 2], {"k": 1}, Row(1, "p")),
        (2, 2.5, "Hello", 20, [3], {"k": 2}, Row(2, "q")),
        (3, 3.5, "Hi", 30, [], {}, Row(3, "r")),
        (4, 4.0, None, 40, None, None, None),
    ]
    found["t"] = t_env.from_elements(rows, d.ROW([d.FIELD(name, kind) for name, kind in fields.items()]))
    found["u"] = t_env.from_elements([(1, "one"), (2, "two"), (2, "zwei"), (9, "nine")], ["k", "v"])
    found["e"] = t_env.from_path("events")
    found |= {"e_": expressions.e, "DataTypes": d, "Decimal": Decimal, "datetime": datetime, "udf": udf, "udtf": udtf}
    return found


def answer(program: str, scope: dict[str, Any]) -> dict[str, Any]:
    """Return the columns and the sorted rows of a program."""
    table = eval(program, scope)
    columns = [[each.name, sql_text(each.data_type)] for each in table.relation.row_type.fields]
    with table.execute().collect() as rows:
        found = sorted([each.get_row_kind().name, *map(repr, each)] for each in rows)
    return {"columns": columns, "rows": found}
