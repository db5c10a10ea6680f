"""GROUP BY, aggregates, grouping sets and group windows."""

from __future__ import annotations

import pytest
from tests.unit.table.analysis.catalogs import analysed, columns, plan, types

from headrace.table.errors import SqlValidationError
from headrace.table.plan.relations import Aggregate, Filter, GroupWindowAggregate, Project, Relation


def _find(relation: Relation, kind: type[Relation]) -> Relation:
    if isinstance(relation, kind):
        return relation
    for each in relation.inputs:
        try:
            return _find(each, kind)
        except LookupError:
            continue
    raise LookupError(kind)


def test_aggregates_read_columns_of_their_input() -> None:
    assert plan(analysed("SELECT name, SUM(v), COUNT(*) FROM u GROUP BY name")).splitlines() == [
        "Project(expressions=[$0, $1, $2])",
        "  Aggregate(groups=[1], calls=[SUM($2), COUNT()])",
        "    Scan(name=[u])",
    ]


def test_expressions_are_computed_before_the_aggregate() -> None:
    assert plan(analysed("SELECT SUM(id + 1) + id * 2 FROM u GROUP BY id * 2")).splitlines() == [
        "Project(expressions=[+($1, $0)])",
        "  Aggregate(groups=[0], calls=[SUM($1)])",
        "    Project(expressions=[*($0, 2), +($0, 1)])",
        "      Scan(name=[u])",
    ]


def test_equal_aggregates_are_computed_once() -> None:
    aggregate = _find(analysed("SELECT COUNT(*), COUNT(*) + 1 FROM u HAVING COUNT(*) > 0"), Aggregate)
    assert isinstance(aggregate, Aggregate)
    assert len(aggregate.calls) == 1


def test_having_filters_groups() -> None:
    relation = analysed("SELECT name FROM u GROUP BY name HAVING SUM(v) > 10")
    assert isinstance(_find(relation, Filter).inputs[0], Aggregate)


def test_order_by_an_aggregate_that_is_not_selected() -> None:
    found = plan(analysed("SELECT name FROM u GROUP BY name ORDER BY COUNT(*) DESC")).splitlines()
    assert found[0] == "Project(expressions=[$0])"
    assert found[1].startswith("  Sort(keys=[SortKey(index=1")


def test_without_groups_results_can_be_null() -> None:
    assert types("SELECT SUM(id), COUNT(id), MAX(id) FROM u") == ["INT", "BIGINT NOT NULL", "INT"]
    assert types("SELECT SUM(id), MAX(id) FILTER (WHERE v > 1) FROM u GROUP BY name") == ["INT NOT NULL", "INT"]


def test_distinct_filter_and_order() -> None:
    query = "SELECT COUNT(DISTINCT name) FILTER (WHERE v > 1), LISTAGG(name) WITHIN GROUP (ORDER BY id DESC) FROM u"
    aggregate = _find(analysed(query), Aggregate)
    assert isinstance(aggregate, Aggregate)
    count, listed = aggregate.calls
    assert count.distinct
    assert count.filter == 1
    assert listed.order_by[0].descending


def test_constants_are_told_to_aggregates() -> None:
    aggregate = _find(analysed("SELECT LISTAGG(name, '-') FROM u"), Aggregate)
    assert isinstance(aggregate, Aggregate)
    assert aggregate.calls[0].constants[1] == "-"


# -- grouping sets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "sets"),
    [
        ("GROUPING SETS ((id, name), (id), ())", ((0, 1), (0,), ())),
        ("ROLLUP (id, name)", ((0, 1), (0,), ())),
        ("CUBE (id, name)", ((0, 1), (0,), (1,), ())),
        ("id, ROLLUP (name)", ((0, 1), (0,))),
        ("GROUPING SETS (ROLLUP (id), name)", ((0,), (), (1,))),
    ],
)
def test_grouping_sets(clause: str, sets: tuple[tuple[int, ...], ...]) -> None:
    aggregate = _find(analysed(f"SELECT COUNT(*) FROM u GROUP BY {clause}"), Aggregate)
    assert isinstance(aggregate, Aggregate)
    assert aggregate.groups == (0, 1)
    assert aggregate.grouping_sets == sets


def test_absent_keys_are_null() -> None:
    assert columns("SELECT id, name FROM u GROUP BY id, ROLLUP (name)") == ["id INT NOT NULL", "name STRING"]
    assert columns("SELECT id FROM u GROUP BY CUBE (id)") == ["id INT"]


def test_grouping_is_computed_from_the_number_of_the_set() -> None:
    relation = analysed("SELECT GROUPING(id), GROUPING_ID(id, name) FROM u GROUP BY CUBE (id, name)")
    assert plan(relation).splitlines()[0] == (
        "Project(expressions=[CASE(=($2, 0), 0, =($2, 1), 0, =($2, 2), 1, 1), "
        "CASE(=($2, 0), 0, =($2, 1), 1, =($2, 2), 2, 3)])"
    )


# -- windows ----------------------------------------------------------------------------------------------------------


def test_group_window() -> None:
    query = (
        "SELECT a, TUMBLE_END(ts, INTERVAL '1' HOUR), TUMBLE_ROWTIME(ts, INTERVAL '1' HOUR), SUM(c) "
        "FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), a"
    )
    relation = analysed(query)
    aggregate = _find(relation, GroupWindowAggregate)
    assert isinstance(aggregate, GroupWindowAggregate)
    assert (aggregate.window.kind, aggregate.window.time, aggregate.window.size) == ("TUMBLE", 3, 3_600_000)
    assert aggregate.properties == ("end", "rowtime")
    assert isinstance(relation, Project)
    assert types(query)[1:3] == ["TIMESTAMP(3) NOT NULL", "TIMESTAMP(3) NOT NULL *ROWTIME*"]


def test_sizes_of_hop_and_session() -> None:
    hop = _find(
        analysed("SELECT 1 FROM t GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)"), GroupWindowAggregate
    )
    assert isinstance(hop, GroupWindowAggregate)
    assert (hop.window.slide, hop.window.size) == (60_000, 3_600_000)
    session = _find(analysed("SELECT 1 FROM t GROUP BY SESSION(ts, INTERVAL '1' MINUTE)"), GroupWindowAggregate)
    assert isinstance(session, GroupWindowAggregate)
    assert session.window.size == 60_000


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id, name FROM u GROUP BY id", "Expression 'name' is not being grouped at line 1, column 12"),
        ("SELECT id, COUNT(*) FROM u", "Expression 'id' is not being grouped at line 1, column 8"),
        ("SELECT * FROM u GROUP BY id", "Expression 'name' is not being grouped at line 1, column 8"),
        ("SELECT id FROM u GROUP BY id HAVING v > 1", "Expression 'v' is not being grouped at line 1, column 37"),
        ("SELECT SUM(COUNT(*)) FROM u", "Aggregate functions cannot be nested"),
        ("SELECT id FROM u GROUP BY SUM(id)", "Aggregate function 'SUM' is not allowed in GROUP BY"),
        ("SELECT TUMBLE(ts, INTERVAL '1' HOUR) FROM t", "may only occur in GROUP BY"),
        ("SELECT 1 FROM u GROUP BY TUMBLE(id, INTERVAL '1' HOUR)", "needs a time attribute"),
        ("SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", "same arguments"),
        ("SELECT ROW_NUMBER() FROM u", "'ROW_NUMBER' needs an OVER clause"),
        ("SELECT UPPER(DISTINCT name) FROM u", "'UPPER' is not an aggregate function"),
    ],
)
def test_errors(query: str, message: str) -> None:
    with pytest.raises(SqlValidationError) as caught:
        analysed(query)
    assert message in str(caught.value)
