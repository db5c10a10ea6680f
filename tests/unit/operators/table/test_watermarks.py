"""Watermarks of tables: one per run, and those inside a run that decide about late rows, as Flink's assigner."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_specs import AssignWatermarks
from headrace.operators.table.batches import TableColumns
from headrace.testing import OperatorHarness
from headrace.types import logical_types as t

TYPE = t.RowType((t.RowField("at", t.TimestampType(3)),))


class Delayed:
    """The watermark `at - INTERVAL '1' SECOND`."""

    def value(self, row):
        return row[0] - 1_000_000

    def column(self, batch):
        import pyarrow.compute as pc

        return pc.subtract(batch.column(0), 1_000_000)


def fed(*runs, columns=False):
    h = OperatorHarness(AssignWatermarks(0, Delayed(), types=(TYPE,), output_type=TYPE))
    for run in runs:
        rows = [(ms * 1000,) for ms in run]
        h.operator.process_batch(TableColumns(TYPE).run(rows) if columns else rows, None, None)
    return [("wm", each[1]) if each[0] == "watermark" else each[0][0] // 1000 for each in h.output], h


def test_one_watermark_per_run():
    assert fed([5000, 6000, 5500], [6200])[0] == [5000, 6000, 5500, ("wm", 5000), 6200, ("wm", 5200)]


def test_a_watermark_in_front_of_a_late_row():
    assert fed([5000, 8000, 3000, 4000, 7500])[0] == [5000, 8000, ("wm", 7000), 3000, 4000, 7500]


def test_no_watermark_if_time_advanced_by_less_than_the_interval():
    first = fed([5000], [5150, 4100])[0]
    assert first == [5000, ("wm", 4000), 5150, 4100, ("wm", 4150)]


def test_watermarks_of_the_input_are_ignored_but_for_the_end():
    _, h = fed([5000])
    h.take_output()
    h.process_watermark(9000)
    h.process_watermark(MAX_WATERMARK)
    assert h.output == [("watermark", MAX_WATERMARK)]


def test_idle_after_the_timeout():
    h = OperatorHarness(AssignWatermarks(0, Delayed(), idle_timeout=50))
    h.operator.process_batch([(5_000_000,)], None, None)
    assert h.operator.next_processing_timer() == 50
    h.set_processing_time(50)
    h.operator.process_batch([(6_000_000,)], None, None)
    assert [each for each in h.output if each[0] in ("idle", "active")] == [("idle",), ("active",)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5000), min_size=100, max_size=300))
def test_columns_and_rows_agree(times):
    assert fed(times, columns=True)[0] == fed(times)[0]
