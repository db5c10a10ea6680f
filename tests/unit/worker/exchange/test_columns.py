"""Columns through the exchange: the same rows reach the same targets as without columns, and stay columns if they are many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common.typeinfo import Types
from headrace.graph import partitioners
from headrace.graph.table_specs import TableKey
from headrace.operators.table.batches import SMALL, TableColumns
from headrace.types import logical_types as t
from headrace.types.codecs import codec_for
from headrace.types.column_run import as_columns
from headrace.worker.exchange.buffers import TargetBuffer
from headrace.worker.exchange.channels import decoded
from headrace.worker.exchange.frames import RECORDS, WATERMARK
from headrace.worker.exchange.routing import create_writer

CODEC = TableColumns(t.RowType((t.RowField("k", t.BigIntType()), t.RowField("s", t.VarCharType()))))
ANY = codec_for(None)


class Edge:
    """A writer, and the items that its targets receive."""

    def __init__(self, partitioner, owner, targets, value_type=None):
        codec = codec_for(value_type)
        buffers = [TargetBuffer((1, i), 0, 0, codec, ANY) for i in range(targets)]
        self.writer = create_writer(partitioner, owner, buffers, 0, 128)
        self.frames = {i: [] for i in range(targets)}
        self.writer.begin_epoch(1, 1, lambda level, partition, frame: self.frames[partition].append(frame))

    def items(self):
        self.writer.flush()
        return {target: list(decoded(frames, ANY, ANY)) for target, frames in self.frames.items()}

    def rows(self):
        """By target: rows with their keys."""
        found = {}
        for target, items in self.items().items():
            found[target] = []
            for kind, values, _, keys in items:
                assert kind == RECORDS
                select = keys if isinstance(keys, TableKey) else None
                keys = [select(row) for row in values] if select else keys or [None] * len(values)
                found[target] += zip(values, keys)
        return found


@pytest.fixture(scope="module")
def owner(make_operator):
    return make_operator()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.sampled_from(["a", "ä", "", None])), min_size=1, max_size=600),
    st.integers(1, 5),
    st.sampled_from([(0,), (1,), (1, 0)]),
)
def test_keyed_columns_go_where_their_rows_go(owner, rows, targets, key):
    with_rows, with_columns = (Edge(partitioners.KeyGroup(TableKey(key)), owner, targets) for _ in range(2))
    with_rows.writer.process_batch(rows, None, None)
    with_columns.writer.process_batch(CODEC.run(rows), None, None)
    assert with_columns.writer.takes_columns
    assert with_columns.rows() == with_rows.rows()


@pytest.mark.parametrize(
    "partitioner", [partitioners.Forward(), partitioners.Rebalance(), partitioners.Broadcast(), partitioners.Global()]
)
def test_columns_without_keys(owner, partitioner):
    rows = [(i, "x") for i in range(4 * SMALL)]
    edge = Edge(partitioner, owner, 2)
    edge.writer.process_batch(CODEC.run(rows), None, None)
    items = [item for each in edge.items().values() for item in each]
    assert all(as_columns(item[1]) is not None for item in items)
    assert {row for item in items for row in item[1]} == set(rows)


def test_few_rows_travel_as_rows_and_order_is_kept(owner):
    edge = Edge(partitioners.KeyGroup(TableKey((0,))), owner, 1)
    many = [(i, "x") for i in range(SMALL)]
    for run in (CODEC.run([(1, "a")]), CODEC.run(many), [(2, "b")]):
        edge.writer.process_batch(run, None, None)
        edge.writer.process_watermark(7)
    [items] = edge.items().values()
    assert [item[0] for item in items] == [RECORDS, WATERMARK] * 3
    runs = [item for item in items if item[0] == RECORDS]
    assert [as_columns(run[1]) is not None for run in runs] == [False, True, False]
    assert [list(run[1]) for run in runs] == [[(1, "a")], many, [(2, "b")]]
    assert [run[3] for run in runs] == [[1], TableKey((0,)), [2]]


def test_an_edge_with_a_declared_type_takes_rows(owner):
    edge = Edge(partitioners.KeyGroup(TableKey((0,))), owner, 1, Types.TUPLE([Types.LONG(), Types.STRING()]))
    assert not edge.writer.takes_columns
