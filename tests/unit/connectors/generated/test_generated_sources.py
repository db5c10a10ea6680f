"""Collections, number sequences and generated records: splits, batches, positions, rates."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.errors import InvalidProgramError
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_reader import ReaderContext
from headrace.connectors.generated.collection import CollectionSource
from headrace.connectors.generated.datagen import ENDLESS, DataGenerator
from headrace.connectors.generated.number_sequence import NumberSequence, range_splits


def read_all(source: Source, parallelism: int, limit: int = 3, reopen: bool = False) -> list[list]:
    """What each subtask reads; with `reopen`, from a new reader at the last position before each batch."""
    source = pickle.loads(pickle.dumps(source))
    parts = source.splits(parallelism)
    assert len(parts) <= parallelism
    result: list[list] = []
    for subtask in range(parallelism):
        splits = parts[subtask : subtask + 1]
        context = ReaderContext(subtask, parallelism)
        values: list = []
        for split in splits:
            reader = source.open_reader(split, None, context)
            while not reader.finished:
                batch = reader.read(limit, 0)
                assert len(batch.values) <= limit
                values += batch.values
                if reopen:
                    reader = source.open_reader(split, pickle.loads(pickle.dumps(reader.position())), context)
            reader.close()
        result.append(values)
    return result


@pytest.mark.parametrize("reopen", [False, True])
def test_collection(reopen):
    assert read_all(CollectionSource([1, "a", None, (2,)]), 3, 2, reopen) == [[1, "a", None, (2,)], [], []]
    assert read_all(CollectionSource([]), 1) == [[]]
    assert CollectionSource([1]).non_parallel and CollectionSource([1]).bounded


@pytest.mark.parametrize("reopen", [False, True])
def test_number_sequence(reopen):
    assert read_all(NumberSequence(0, 6), 3, reopen=reopen) == [[0, 1, 2], [3, 4], [5, 6]]
    assert read_all(NumberSequence(5, 6), 4) == [[5], [6], [], []]
    assert read_all(NumberSequence(-1, -1), 1) == [[-1]]
    with pytest.raises(InvalidProgramError, match="'from' must be <= 'to'"):
        NumberSequence(1, 0)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**40), st.integers(1, 300))
def test_ranges_are_cut_without_gaps(start, length, parts):
    bounds = [split.payload for split in range_splits(start, start + length, parts)]
    assert len(bounds) == min(parts, length + 1)
    sizes = [end - first + 1 for first, end in bounds]
    assert bounds[0][0] == start and bounds[-1][1] == start + length
    assert all(bounds[i][1] + 1 == bounds[i + 1][0] for i in range(len(bounds) - 1))
    assert sizes == sorted(sizes, reverse=True) and sizes[0] - sizes[-1] <= 1


@pytest.mark.parametrize("reopen", [False, True])
def test_generated_records(reopen):
    assert read_all(DataGenerator(str, 5), 2, reopen=reopen) == [["0", "1", "2"], ["3", "4"]]
    assert DataGenerator(str, 5).bounded and not DataGenerator(str).bounded
    assert DataGenerator(str).count == ENDLESS
    for arguments in ((str, 0), (str, 5, 0), (str, 5, -1.0)):
        with pytest.raises(InvalidProgramError):
            DataGenerator(*arguments)


def test_rate_follows_the_clock():
    source = DataGenerator(int, records_per_second=100)
    reader = source.open_reader(source.splits(2)[0], None, ReaderContext(0, 2))
    assert reader.read(1000, 5_000).values == [0]
    assert reader.read(1000, 5_000).values == []
    assert len(reader.read(1000, 6_000).values) == 50
    assert len(reader.read(10, 8_000).values) == 10
    assert len(reader.read(1000, 8_000).values) == 90
    again = source.open_reader(source.splits(2)[0], reader.position(), ReaderContext(0, 2))
    assert again.read(1000, 9_000).values == [151]


def test_generator_functions_are_opened_and_closed():
    calls = []

    class Numbered:
        def open(self, context):
            calls.append((context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()))

        def map(self, index):
            return -index

        def close(self):
            calls.append("closed")

    source = DataGenerator(Numbered(), 4)
    reader = source.open_reader(source.splits(2)[1], None, ReaderContext(1, 2, attempt=3))
    assert reader.read(9, 0).values == [-2, -3]
    reader.close()
    assert calls == [(1, 2), "closed"]
