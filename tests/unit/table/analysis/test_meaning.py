"""What queries mean: relations, run by a direct interpreter, against DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.table.analysis.catalogs import MemoryCatalog, analysed
from tests.unit.table.analysis.interpreter import Tables, run

duckdb = pytest.importorskip("duckdb")

_COLUMNS = {
    "e": ("id INT NOT NULL", "dept INT", "name STRING", "pay INT"),
    "d": ("id INT", "title STRING", "boss INT"),
    "n": ("x INT", "y INT"),
}
_ROWS: Tables = {
    "e": [
        (1, 10, "ann", 100),
        (2, 10, "bob", 200),
        (3, 20, "cid", None),
        (4, None, "dee", 400),
        (5, 30, None, 200),
        (6, 20, "fay", 300),
        (7, 10, "bob", 200),
    ],
    "d": [(10, "tea", 1), (20, "oil", 3), (40, "ice", None), (None, "air", 2)],
    "n": [(1, 1), (1, None), (None, 2), (3, 3), (3, 3)],
}
_CATALOG = MemoryCatalog(*(f"CREATE TABLE {name} ({', '.join(columns)})" for name, columns in _COLUMNS.items()))

QUERIES = """
SELECT name, pay + 1 FROM e WHERE pay > 100
SELECT e.name, d.title FROM e JOIN d ON e.dept = d.id
SELECT e.name, d.title FROM e LEFT JOIN d ON e.dept = d.id AND d.title <> 'oil'
SELECT e.name, d.title FROM e RIGHT JOIN d ON e.dept = d.id
SELECT e.name, d.title FROM e FULL JOIN d ON e.dept = d.id
SELECT id, x.dept, y.pay FROM e AS x JOIN e AS y USING (id)
SELECT id, title FROM (SELECT dept AS id FROM e) AS q FULL JOIN d USING (id)
SELECT dept, COUNT(*), SUM(pay), MIN(name), COUNT(DISTINCT pay) FROM e GROUP BY dept
SELECT dept, SUM(pay) FROM e GROUP BY dept HAVING COUNT(*) > 1
SELECT COUNT(*), MAX(pay) FROM e WHERE id > 100
SELECT dept + 1, COUNT(*) FILTER (WHERE pay > 150) FROM e GROUP BY dept + 1
SELECT dept, name, COUNT(*), GROUPING(dept, name) FROM e GROUP BY ROLLUP (dept, name)
SELECT dept, name, SUM(pay), GROUPING(name) FROM e GROUP BY GROUPING SETS ((dept), (name), ())
SELECT dept, name, COUNT(*) FROM e GROUP BY CUBE (dept, name)
SELECT DISTINCT dept, pay FROM e
SELECT id FROM e ORDER BY pay DESC NULLS LAST, id LIMIT 3 OFFSET 1
SELECT name FROM e UNION SELECT title FROM d
SELECT dept FROM e INTERSECT SELECT id FROM d
SELECT dept FROM e EXCEPT SELECT id FROM d
SELECT x FROM n UNION ALL SELECT y FROM n
SELECT x FROM n INTERSECT ALL SELECT y FROM n
SELECT x FROM n EXCEPT ALL SELECT y FROM n
SELECT name FROM e WHERE dept IN (SELECT id FROM d)
SELECT name FROM e WHERE dept NOT IN (SELECT id FROM d)
SELECT name FROM e WHERE dept NOT IN (SELECT id FROM d WHERE id IS NOT NULL)
SELECT name FROM e WHERE dept NOT IN (SELECT id FROM d WHERE id > 1000)
SELECT title FROM d WHERE id NOT IN (SELECT dept FROM e WHERE e.pay > d.boss * 100)
SELECT name FROM e WHERE NOT (dept IN (SELECT id FROM d) AND pay > 100)
SELECT name FROM e WHERE dept IN (SELECT id FROM d) OR pay = 400
SELECT name FROM e WHERE NOT (dept NOT IN (SELECT id FROM d)) OR id = 4
SELECT name, dept IN (SELECT id FROM d), dept IN (SELECT id FROM d WHERE id > 5) FROM e
SELECT name, dept IN (SELECT id FROM d WHERE id > 1000), pay IN (SELECT pay FROM e) FROM e
SELECT name FROM e WHERE (dept, id) IN (SELECT id, boss FROM d)
SELECT title FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.dept = d.id)
SELECT title FROM d WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.dept = d.id AND e.pay > 150)
SELECT title FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.pay > d.boss * 100)
SELECT title, EXISTS (SELECT 1 FROM e WHERE e.dept = d.id) FROM d
SELECT title FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.dept = d.id) OR title = 'ice'
SELECT title, EXISTS (SELECT 1 FROM e WHERE id > 100), EXISTS (SELECT 1 FROM e) FROM d
SELECT title FROM d WHERE EXISTS (SELECT COUNT(*) FROM e WHERE e.dept = d.id)
SELECT title, (SELECT COUNT(*) FROM e WHERE e.dept = d.id) FROM d
SELECT title, (SELECT COUNT(*) + 1 FROM e WHERE e.dept = d.id AND e.pay > 100) FROM d
SELECT title, (SELECT SUM(pay) FROM e WHERE e.dept = d.id), (SELECT MAX(pay) FROM e) FROM d
SELECT title, (SELECT name FROM e WHERE e.id = d.boss) FROM d
SELECT title, (SELECT name FROM e WHERE e.dept = d.id ORDER BY e.id DESC LIMIT 1) FROM d
SELECT title, (SELECT e.pay + d.id FROM e WHERE e.id = d.boss) FROM d
SELECT name FROM e WHERE pay > (SELECT AVG(pay) FROM e)
SELECT name FROM e WHERE pay = (SELECT MAX(x.pay) FROM e AS x WHERE x.dept = e.dept)
SELECT name FROM e WHERE pay > ALL (SELECT pay FROM e AS x WHERE x.id < 3)
SELECT name FROM e WHERE pay > ALL (SELECT pay FROM e AS x)
SELECT name FROM e WHERE pay >= ANY (SELECT pay FROM e AS x WHERE x.id < 4)
SELECT name FROM e WHERE pay < ANY (SELECT pay FROM e AS x WHERE x.id > 100)
SELECT name FROM e WHERE pay < ALL (SELECT pay FROM e AS x WHERE x.id > 100)
SELECT id, pay = ALL (SELECT pay FROM e AS x WHERE x.id IN (2, 5)), pay <> ANY (SELECT y FROM n) FROM e
SELECT id, pay > ANY (SELECT y FROM n), pay <= ALL (SELECT pay FROM e AS x) FROM e
SELECT dept, (SELECT title FROM d WHERE d.id = e.dept) FROM e GROUP BY dept
SELECT dept FROM e GROUP BY dept HAVING SUM(pay) > (SELECT AVG(pay) FROM e)
SELECT dept FROM e GROUP BY dept HAVING EXISTS (SELECT 1 FROM d WHERE d.id = e.dept)
SELECT d.title, q.name FROM d, LATERAL (SELECT name FROM e WHERE e.dept = d.id) AS q
SELECT d.title, q.name FROM d LEFT JOIN LATERAL (SELECT name FROM e WHERE e.dept = d.id) AS q ON TRUE
SELECT d.title, q.name FROM d LEFT JOIN LATERAL (SELECT name, pay FROM e WHERE e.dept = d.id) AS q ON q.pay > 150
SELECT d.title, q.c, q.s FROM d, LATERAL (SELECT COUNT(*) AS c, SUM(pay) AS s FROM e WHERE e.dept = d.id) AS q
SELECT d.title, q.id FROM d, LATERAL (SELECT id FROM e WHERE e.dept = d.id ORDER BY pay DESC NULLS LAST, id LIMIT 2) AS q
SELECT d.title, q.z FROM d, LATERAL (SELECT e.id * d.boss AS z FROM e WHERE e.pay = 200) AS q
SELECT d.title, q.dept, q.c FROM d, LATERAL (SELECT dept, COUNT(*) AS c FROM e WHERE e.dept = d.id GROUP BY dept) AS q
SELECT title, (SELECT 1 FROM e WHERE e.id = d.boss), (SELECT d.title || 'x' FROM e WHERE e.id = d.boss) FROM d
SELECT d.title, q.z, q.w, q.c FROM d LEFT JOIN LATERAL (SELECT 1 AS z, COALESCE(pay, 0) AS w, d.title AS c FROM e WHERE e.dept = d.id) AS q ON TRUE
SELECT d.title, q.z FROM d LEFT JOIN LATERAL (SELECT COUNT(*) + 1 AS z FROM e WHERE e.dept = d.id) AS q ON TRUE
SELECT title, (SELECT COALESCE(SUM(pay), 0) FROM e WHERE e.dept = d.id) FROM d
SELECT title, (SELECT 7 FROM e WHERE e.dept = d.id LIMIT 1) FROM d
SELECT title FROM d WHERE id IN (SELECT dept FROM e WHERE e.pay IN (SELECT pay FROM e AS x WHERE x.id = 2))
SELECT title FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.dept = d.id AND e.pay = (SELECT MAX(pay) FROM e AS x WHERE x.dept = e.dept))
SELECT title FROM d WHERE EXISTS (SELECT 1 FROM e WHERE e.dept = d.id AND EXISTS (SELECT 1 FROM n WHERE n.x = e.id))
SELECT title FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.dept = d.id) = 0
SELECT title FROM d WHERE COALESCE((SELECT SUM(pay) FROM e WHERE e.dept = d.id), 0) < 500
SELECT CASE WHEN EXISTS (SELECT 1 FROM e WHERE e.dept = d.id) THEN 'y' ELSE 'n' END FROM d
WITH q AS (SELECT dept, SUM(pay) AS s FROM e GROUP BY dept) SELECT d.title, q.s FROM q JOIN d ON q.dept = d.id
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v(x, y) WHERE x > 1
SELECT name, rn FROM (SELECT name, ROW_NUMBER() OVER (PARTITION BY dept ORDER BY pay DESC NULLS LAST, id) AS rn FROM e) AS q WHERE rn = 1
SELECT name FROM e QUALIFY ROW_NUMBER() OVER (PARTITION BY dept ORDER BY id) = 1
SELECT id FROM e WHERE pay BETWEEN 100 AND 200 AND dept IS NOT NULL AND name NOT IN ('bob', 'zoe')
SELECT CASE dept WHEN 10 THEN 'ten' WHEN 20 THEN 'twenty' END, COALESCE(name, 'none'), NULLIF(pay, 200) FROM e
SELECT MAX(pay) - MIN(pay) AS spread, dept FROM e GROUP BY dept ORDER BY spread DESC NULLS LAST, dept NULLS FIRST LIMIT 2
"""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Any]:
    """A database with the same tables."""
    connection = duckdb.connect()
    for name, columns in _COLUMNS.items():
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        for row in _ROWS[name]:
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    yield connection
    connection.close()


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.parametrize("query", QUERIES.strip().splitlines())
def test_rows(query: str, oracle: Any) -> None:
    found = Counter(tuple(map(_plain, row)) for row in run(analysed(query, _CATALOG), _ROWS))
    expected = Counter(tuple(map(_plain, row)) for row in oracle.execute(query).fetchall())
    assert found == expected
