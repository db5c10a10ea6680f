"""The disk backend holds, saves and restores state that is many times larger than its memory."""

import subprocess
import sys

from tests.unit.state.backends import make_backend

from headrace.state.descriptors import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

PROGRAM = """
import sys, zlib
from pathlib import Path
from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.descriptors import MapStateDescriptor, ValueStateDescriptor
from headrace.state.disk import DiskKeyedBackend
from headrace.state.files import StateHeader, read_parts, write_state_file

def anonymous_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

folder, keys, budget = Path(sys.argv[1]), int(sys.argv[2]), 8 << 20
before, most = anonymous_mb(), 0.0

def value_of(n):
    return str(zlib.crc32(b"%d" % n)) * 320

def checked(backend):
    value = backend.get_state(ValueStateDescriptor("v", None))
    items = backend.get_state(MapStateDescriptor("m", None, None))
    for n in range(0, keys, 47):
        backend.key = f"key {n}"
        assert value.value() == value_of(n), n
    backend.key = "one"
    assert not items.is_empty()
    assert sum(1 for _ in items.items()) == keys // 10
    return value, items

backend = DiskKeyedBackend(128, range(128), folder / "a", budget)
value = backend.get_state(ValueStateDescriptor("v", None))
items = backend.get_state(MapStateDescriptor("m", None, None))
timers = backend.timers("t")
for n in range(keys):
    backend.key = f"key {n}"
    value.update(value_of(n))
    timers.register(n * 7919 % keys, backend.key)
    if n % 10 == 0:
        backend.key = "one"
        items.put(n, value_of(n))
    if n % 100 == 99:
        backend.make_room()
    if n % 1000 == 999:
        delta = backend.collect_delta()
        assert sum(map(len, delta["v"].values())) == 1000
        del delta
        most = max(most, anonymous_mb())
checked(backend)
base = StateHeader("job", "v", 0, 1, "a", "base")
file = write_state_file(folder, base, SubtaskState({"u": OperatorState(backend.snapshot_full())}))
most = max(most, anonymous_mb())
backend.close()
assert not (folder / "a").exists()

restored = DiskKeyedBackend(128, range(128), folder / "b", budget)
for _, part in read_parts(folder, [file], {}, None, allowed_modules=None):
    restored.apply_part(part.keyed)
restored.finish_restore()
checked(restored)
most = max(most, anonymous_mb())
queue, fired, before_time = restored.timers("t"), 0, -1
assert len(queue) == keys
while (timer := queue.pop_due(keys)) is not None:
    assert timer[0] >= before_time
    before_time, fired = timer[0], fired + 1
assert fired == keys
most = max(most, anonymous_mb())
restored.close()
print(f"{file.size >> 20} {most - before:.0f}")
"""


def test_memory_stays_small_while_state_grows(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), "35000"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    state, memory = map(int, ran.stdout.split())
    assert state > 95, "MB of state"
    assert memory < 55, "MB of memory, the database's own included"


def test_a_large_list_and_map_of_one_key_are_read_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    backend = make_backend("disk without memory")
    elements = backend.get_state(ListStateDescriptor("l", None))
    items = backend.get_state(MapStateDescriptor("m", None, None))
    backend.key = "k"
    elements.add_all(range(2000))
    items.put_all({n: str(n) for n in range(-500, 500)})
    backend.collect_delta()
    backend.key = "other"
    backend.key = "k"
    assert elements.get() == list(range(2000))
    some = items.items()
    assert [next(some) for _ in range(3)] == [(-500, "-500"), (-499, "-499"), (-498, "-498")]
    assert backend.table("m", kind="MapState").in_memory < 10, "the rest was not brought in"
    items.put(-499, "new")
    items.remove(-498)
    items.put("text", "x")
    seen = list(items.items())
    assert seen[:3] == [(-500, "-500"), (-499, "new"), (-497, "-497")] and len(seen) == 1000
    backend.close()


def test_nothing_is_written_as_long_as_everything_fits(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    backend = make_backend("disk")
    value = backend.get_state(ValueStateDescriptor("v", None))
    for key in range(200):
        backend.key = key
        value.update(key)
        backend.make_room()
    backend.collect_delta()
    assert not backend.on_disk and list(tmp_path.iterdir()) == []
    backend.close()
