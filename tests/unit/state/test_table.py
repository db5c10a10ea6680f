"""The table interface, on both implementations: what changed, what is saved, what is restored."""

import pytest
from tests.unit.state.backends import plain

from headrace.state.disk import DiskMapTable
from headrace.state.disk_table import DiskTable
from headrace.state.heap_table import HeapMapTable, HeapTable
from headrace.state.key_groups import GroupCache
from headrace.state.table import MISSING, MapTable, Table
from headrace.state.tombstone import TOMBSTONE

GROUPS = GroupCache(128)


@pytest.fixture
def backend(new_backend):
    return new_backend()


def entries(delta):
    return sorted(entry for found in plain({"": delta})[""].values() for entry in found)


def out_of_memory(table):
    """Take all entries out of memory, if the table can."""
    if hasattr(table, "retire"):
        table.retire()
        table.retire()


def test_implementations_do_not_inherit_from_each_other():
    assert not issubclass(DiskTable, HeapTable) and not issubclass(DiskMapTable, HeapMapTable)
    for implementation in (HeapTable, DiskTable, HeapMapTable, DiskMapTable):
        assert issubclass(implementation, Table) and not implementation.__abstractmethods__
    assert issubclass(HeapMapTable, MapTable) and issubclass(DiskMapTable, MapTable)


def test_a_plain_table(backend):
    table = backend.table("t")
    data, dirty = table.data, table.dirty
    for key, value in (("a", 1), ("b", 2), ("c", 3)):
        data[key] = value
        dirty.add(key)
    out_of_memory(table)
    del data["b"]
    dirty.add("b")
    assert table.changes >= 3 and sorted(table.keys()) == ["a", "c"]
    assert entries(table.snapshot_full(GROUPS)) == [("a", 1), ("c", 3)]
    assert dict(entries(table.collect_delta(GROUPS))) == {"a": 1, "b": TOMBSTONE, "c": 3}
    assert table.changes == 0 and table.collect_delta(GROUPS) == {}
    table.load(GROUPS["c"], [("c", TOMBSTONE)])
    table.load(GROUPS["d"], [("d", 4)])
    assert table.changes == 0 and "c" not in data and data.get("d") == 4
    assert table.data is data and table.dirty is dirty


def test_a_map_table(backend):
    table = backend.table("m", kind="MapState")
    for key in "xyz":
        table.put("a", key, key * 2)
    table.put("b", "x", None)
    assert entries(table.snapshot_full(GROUPS))[0] == (("a", "x"), "xx")
    table.collect_delta(GROUPS)
    out_of_memory(table)
    assert table.remove("a", "y") and not table.remove("a", "y")
    assert table.lookup("a", "x") == "xx" and table.lookup("a", "y") is MISSING and table.lookup("b", "x") is None
    assert sorted(table.entries("a")) == [("x", "xx"), ("z", "zz")]
    table.clear("a")
    assert table.is_empty("a") and not table.is_empty("b") and list(table.keys()) == ["b"]
    assert dict(entries(table.collect_delta(GROUPS))) == {("a", key): TOMBSTONE for key in "xyz"}
    table.load(GROUPS["c"], [(("c", 1), 2)])
    assert table.changes == 0 and table.lookup("c", 1) == 2
