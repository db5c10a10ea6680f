"""State files: round trips, ranges of key groups, names, and files that must not be used."""

import os
import pickle
import threading
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.state.folding import fold, read_chain

from headrace.common.errors import StateError
from headrace.state import file_format
from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.files import (
    StateFile,
    StateHeader,
    file_name,
    problem_of,
    read_parts,
    read_state_file,
    write_state_file,
)
from headrace.state.key_groups import key_group, key_group_range
from headrace.state.tombstone import TOMBSTONE

HEADER = StateHeader("job-1", "vertex", 2, 7, "attempt-0", max_parallelism=128)
EXPECTED = {"job_id": "job-1", "vertex_id": "vertex", "max_parallelism": 128}


class Trap:
    def __reduce__(self):
        return os.getpid, ()


def by_group(entries, groups=128):
    result = {}
    for key, value in entries.items():
        result.setdefault(key_group(key, groups), []).append((key, value))
    return result


def some_state():
    return SubtaskState(
        {
            "window": OperatorState(
                keyed={
                    "sum": by_group({f"k{n}": n for n in range(50)}),
                    "list": {3: [("a", [1, 2]), ("b", TOMBSTONE)]},
                },
                plain={"watermarks": {0: 5}, "kinds": {"sum": "ValueState"}},
            ),
            "source": OperatorState(plain={"position": 17}),
        }
    )


def test_round_trip(tmp_path):
    file = write_state_file(tmp_path, HEADER, some_state())
    assert file.name == "vertex-2-e0000000007-attempt-0.delta"
    assert file.size == (tmp_path / file.name).stat().st_size
    assert os.listdir(tmp_path) == [file.name]
    again = read_state_file(tmp_path, file, EXPECTED)
    assert again == some_state()
    assert again.operators["window"].keyed["list"][3][1][1] is TOMBSTONE


def test_nothing_is_a_file_too(tmp_path):
    file = write_state_file(tmp_path, HEADER, SubtaskState())
    assert read_state_file(tmp_path, file, EXPECTED) == SubtaskState()


@pytest.mark.parametrize("parallelism", [1, 2, 5, 128])
@pytest.mark.parametrize("run_bytes", [1, 300, 1 << 20])
def test_each_new_subtask_reads_its_part(tmp_path, monkeypatch, parallelism, run_bytes):
    monkeypatch.setattr(file_format, "_RUN_BYTES", run_bytes)
    monkeypatch.setattr(file_format, "_FIRST_RUN", 10 if run_bytes < 1000 else 256)
    whole = by_group({f"k{n}": n for n in range(500)})
    file = write_state_file(tmp_path, HEADER, SubtaskState({"u": OperatorState({"s": whole}, {"p": 1})}))
    found = {}
    for subtask in range(parallelism):
        groups = key_group_range(subtask, 128, parallelism)
        part = read_state_file(tmp_path, file, EXPECTED, groups).operators["u"]
        assert part.plain == {"p": 1}
        assert set(part.keyed.get("s", {})) <= set(groups)
        found |= part.keyed.get("s", {})
    assert found == whole


def test_only_needed_blocks_are_read(monkeypatch):
    monkeypatch.setattr(file_format, "_FIRST_RUN", 1)
    monkeypatch.setattr(file_format, "_RUN_BYTES", 1)
    state = SubtaskState({"u": OperatorState({"s": {group: [(group, "x" * 100)] for group in range(128)}})})
    parts = list(file_format.encode(HEADER, state))
    checksum = file_format.checksum_in(parts[-1])
    data = b"".join(parts)
    reads = []

    def read_at(offset, length):
        reads.append((offset, length))
        return data[offset : offset + length]

    options = {"checksum": checksum, "expected": {}, "allowed_modules": (), "trust_job_code": False}
    found = file_format.decode(len(data), read_at, key_groups=range(10, 12), **options)
    assert [sorted(part.keyed["s"]) for _, part in found if part.keyed] == [[10], [11]]
    assert len(reads) == 4 + 2  # preamble, footer, front, index, and two blocks


def test_large_files_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("headrace.state.files._WHOLE", 10)
    file = write_state_file(tmp_path, HEADER, some_state())
    assert read_state_file(tmp_path, file, EXPECTED) == some_state()


def test_large_values_make_small_runs():
    entries = {group: [((group, n), b"%d" % n * 20_000) for n in range(10)] for group in range(60)}
    parts = list(file_format.encode(HEADER, SubtaskState({"u": OperatorState({"s": entries})})))
    blocks = parts[1:-2]
    assert len(blocks) > 5
    assert max(map(len, blocks[1:])) < 2_000_000  # the first run shows how large the entries are


def test_a_key_group_may_be_larger_than_a_run_and_is_read_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(file_format, "_FIRST_RUN", 4)
    monkeypatch.setattr(file_format, "_RUN_BYTES", 100)
    taken = []

    class Streamed(dict):
        """Gives entries one by one and notes how far it was read."""

        def __getitem__(self, group):
            for entry in super().__getitem__(group):
                taken.append(entry)
                yield entry

    entries = {3: [(n, "x" * 10) for n in range(500)], 4: [(n, n) for n in range(500, 510)]}
    parts = file_format.encode(HEADER, SubtaskState({"u": OperatorState({"s": Streamed(entries)})}))
    next(parts)
    ahead, before = 0, 0
    for _ in parts:
        ahead, before = max(ahead, len(taken) - before), len(taken)
    assert ahead < 20 and len(taken) == 510
    file = write_state_file(tmp_path, HEADER, SubtaskState({"u": OperatorState({"s": Streamed(entries)})}))
    assert read_state_file(tmp_path, file, EXPECTED).operators["u"].keyed == {"s": entries}
    sizes = [len(e) for _, part in read_parts(tmp_path, [file], EXPECTED) for e in part.keyed["s"].values()]
    assert sum(sizes) == 510 and max(sizes) < 20


def test_names_are_unique_per_attempt_and_safe():
    names = {
        file_name(header)
        for header in (
            HEADER,
            replace(HEADER, attempt="b"),
            replace(HEADER, epoch=8),
            replace(HEADER, subtask=3),
            replace(HEADER, vertex_id="other"),
            replace(HEADER, kind="base"),
        )
    }
    assert len(names) == 6
    assert "/" not in file_name(replace(HEADER, vertex_id="../../etc", attempt="a/b"))


def test_a_path_as_a_name_is_refused(tmp_path):
    with pytest.raises(StateError, match="must not contain a path"):
        read_state_file(tmp_path, StateFile("../x.delta", 1, 1), {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("job_id", "job-2"),
        ("vertex_id", "v"),
        ("subtask", 0),
        ("epoch", 8),
        ("attempt", "x"),
        ("kind", "base"),
        ("max_parallelism", 256),
    ],
)
def test_foreign_files_are_refused(tmp_path, field, value):
    file = write_state_file(tmp_path, HEADER, some_state())
    with pytest.raises(StateError, match=f"{file.name}.*foreign: its {field} is"):
        read_state_file(tmp_path, file, {**EXPECTED, field: value})


def test_swapped_and_missing_files_are_refused(tmp_path):
    one = write_state_file(tmp_path, HEADER, SubtaskState({"u": OperatorState(plain={"x": 1})}))
    two = write_state_file(
        tmp_path, replace(HEADER, attempt="attempt-1"), SubtaskState({"u": OperatorState(plain={"x": 2})})
    )
    assert one.size == two.size
    os.replace(tmp_path / two.name, tmp_path / one.name)
    with pytest.raises(StateError, match="another file than the one recorded"):
        read_state_file(tmp_path, one, EXPECTED)
    with pytest.raises(StateError, match=f"{two.name}.*No such file"):
        read_state_file(tmp_path, two, EXPECTED)


def test_other_magic_and_version(tmp_path):
    file = write_state_file(tmp_path, HEADER, some_state())
    path = tmp_path / file.name
    good = path.read_bytes()
    path.write_bytes(b"PARQUET1" + good[8:])
    with pytest.raises(StateError, match="not a state file"):
        read_state_file(tmp_path, file, EXPECTED)
    path.write_bytes(good[:9] + b"\x03" + good[10:])
    with pytest.raises(StateError, match="format version is 3"):
        read_state_file(tmp_path, file, EXPECTED)


def test_every_damage_is_noticed(tmp_path):
    state = SubtaskState({"u": OperatorState({"s": {1: [("a", 1)], 5: [("b", TOMBSTONE)]}}, {"p": 2})})
    file = write_state_file(tmp_path, HEADER, state)
    path = tmp_path / file.name
    good = path.read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        for claimed in (file, replace(file, size=length)):
            with pytest.raises(StateError, match=file.name):
                read_state_file(tmp_path, claimed, EXPECTED)
    for position in range(len(good)):
        for flip in (0x01, 0x80, 0xFF):
            path.write_bytes(good[:position] + bytes([good[position] ^ flip]) + good[position + 1 :])
            with pytest.raises(StateError, match=file.name):
                read_state_file(tmp_path, file, EXPECTED)
    for tail in (b"x", good):
        path.write_bytes(good + tail)
        for claimed in (file, replace(file, size=len(good) + len(tail))):
            with pytest.raises(StateError, match=file.name):
                read_state_file(tmp_path, claimed, EXPECTED)
    path.write_bytes(good)
    assert read_state_file(tmp_path, file, EXPECTED) == state


def test_contents_of_another_shape_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_format, "dump", lambda value: ("p", pickle.dumps([1, 2, 3])))
    file = write_state_file(tmp_path, HEADER, some_state())
    with pytest.raises(StateError, match=f"{file.name}.*make no sense"):
        read_state_file(tmp_path, file, EXPECTED)


def test_foreign_classes_are_refused_with_the_files_name(tmp_path):
    file = write_state_file(tmp_path, HEADER, SubtaskState({"u": OperatorState(plain={"x": Trap()})}))
    with pytest.raises(StateError, match=rf"{file.name}.*getpid") as refused:
        read_state_file(tmp_path, file, EXPECTED, allowed_modules=[__name__])
    assert "foreign" in refused.value.remedy


def test_local_classes_need_trust(tmp_path):
    class Local:
        pass

    state = SubtaskState({"u": OperatorState({"s": {0: [("a", Local())]}, "t": {0: [("a", 1)]}})})
    file = write_state_file(tmp_path, HEADER, state)
    with pytest.raises(StateError, match=f"{file.name}.*with their code"):
        read_state_file(tmp_path, file, EXPECTED)
    again = read_state_file(tmp_path, file, EXPECTED, trust_job_code=True)
    assert type(again.operators["u"].keyed["s"][0][0][1]).__name__ == "Local"


@pytest.mark.parametrize("place", ["keyed", "plain"])
def test_values_that_cannot_be_saved_are_named(tmp_path, place):
    lock = threading.Lock()
    operator = (
        OperatorState({"sum": {1: [("fine", 1), ("bad key", lock)]}})
        if place == "keyed"
        else OperatorState(plain={"fine": 1, "bad key": lock})
    )
    with pytest.raises(StateError, match="cannot be saved") as refused:
        write_state_file(tmp_path, HEADER, SubtaskState({"counter": operator}))
    assert refused.value.uid == "counter"
    assert "bad key" in refused.value.seen
    assert os.listdir(tmp_path) == []


def test_a_failed_write_leaves_nothing(tmp_path):
    def no_disk():
        assert len(os.listdir(tmp_path)) == 1, "a part has been written"
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        write_state_file(tmp_path, HEADER, some_state(), no_disk)
    assert os.listdir(tmp_path) == []


def test_a_whole_file_has_no_problem_and_any_changed_byte_is_one(tmp_path):
    file = write_state_file(tmp_path, HEADER, some_state())
    path = tmp_path / file.name
    good = path.read_bytes()
    assert problem_of(path, file, HEADER.job_id) is None
    for position in range(len(good)):
        path.write_bytes(good[:position] + bytes([good[position] ^ 1]) + good[position + 1 :])
        assert problem_of(path, file, HEADER.job_id), f"byte {position}"
    path.write_bytes(good[:-1])
    assert "bytes, not" in problem_of(path, file)
    path.write_bytes(good)
    assert "foreign" in problem_of(path, file, "another job")
    renamed = replace(file, name="x-0-e0000000001-a.delta")
    path.rename(tmp_path / renamed.name)
    assert "another file" in problem_of(tmp_path / renamed.name, renamed)


def test_a_chain_starts_at_its_last_base(tmp_path):
    def write(epoch, kind, **values):
        state = SubtaskState({"u": OperatorState({"s": by_group(values)}, {"epoch": epoch})})
        return write_state_file(tmp_path, replace(HEADER, epoch=epoch, kind=kind), state)

    files = [
        write(1, "delta", a=1, b=1),
        write(2, "base", b=2, c=2),
        write(3, "delta", c=TOMBSTONE, d=3),
        write(4, "delta", d=4),
    ]
    os.remove(tmp_path / files[0].name)  # not needed any more
    operator = read_chain(tmp_path, files, EXPECTED).operators["u"]
    assert {key: value for entries in operator.keyed["s"].values() for key, value in entries} == {"b": 2, "d": 4}
    assert operator.plain == {"epoch": 4}


def test_fold_keeps_plain_names_that_later_files_do_not_have():
    one = SubtaskState({"u": OperatorState(plain={"a": 1, "b": 1, "c": 1})})
    two = SubtaskState({"u": OperatorState(plain={"b": {"new": 2}, "c": TOMBSTONE}), "v": OperatorState()})
    assert fold([one, two]).operators == {"u": OperatorState(plain={"a": 1, "b": {"new": 2}}), "v": OperatorState()}
    assert fold([]) == SubtaskState()


keys = st.sampled_from(["a", "b", "c", 1, 2, (3, "x"), None])
values = st.just(TOMBSTONE) | st.integers() | st.lists(st.text(max_size=3), max_size=3)
deltas = st.dictionaries(
    st.sampled_from(["u", "v"]), st.dictionaries(st.sampled_from(["s", "t"]), st.dictionaries(keys, values))
)


@settings(max_examples=50, deadline=None)
@given(st.lists(deltas, max_size=5), st.integers(1, 4))
def test_chains_agree_with_dicts(tmp_path_factory, history, parallelism):
    directory = tmp_path_factory.mktemp("chain")
    model, files = {}, []
    for epoch, delta in enumerate(history):
        operators = {}
        for uid, states in delta.items():
            operators[uid] = OperatorState({name: by_group(entries) for name, entries in states.items()})
            for name, entries in states.items():
                model.update({(uid, name, key): value for key, value in entries.items()})
        files.append(write_state_file(directory, replace(HEADER, epoch=epoch), SubtaskState(operators)))
    found = {}
    for subtask in range(parallelism):
        part = read_chain(directory, files, EXPECTED, key_group_range(subtask, 128, parallelism))
        for uid, operator in part.operators.items():
            for name, groups in operator.keyed.items():
                for entries in groups.values():
                    assert not any((uid, name, key) in found for key, _ in entries)
                    found |= {(uid, name, key): value for key, value in entries}
    assert found == {place: value for place, value in model.items() if value is not TOMBSTONE}
