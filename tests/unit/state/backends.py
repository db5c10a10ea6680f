"""The keyed backends that every test of keyed state runs on."""

import itertools
import tempfile
from pathlib import Path

from headrace.state.disk import DiskKeyedBackend
from headrace.state.heap import HeapKeyedBackend
from headrace.state.keyed_states import KeyHolder

KINDS = ("heap", "disk", "disk without memory")
_numbers = itertools.count()
_KEY = vars(KeyHolder)["key"]


class ForgetfulBackend(DiskKeyedBackend):
    """A disk backend that has to read everything again for every record: whenever the key changes, memory is emptied."""

    __slots__ = ()

    @property
    def key(self):
        return _KEY.__get__(self)

    @key.setter
    def key(self, key):
        _KEY.__set__(self, key)
        self.forget()

    def forget(self):
        for table in getattr(self, "_tables", {}).values():
            table.retire()
            table.retire()
        for queue in getattr(self, "_timers", {}).values():
            queue.limit = 2
            queue.make_room()

    def collect_delta(self):
        self.forget()
        return super().collect_delta()

    def snapshot_full(self):
        self.forget()
        return super().snapshot_full()


def make_backend(kind, groups=128, key_groups=None):
    """A new backend; the directory of a disk backend goes with the temporary directory of the test run."""
    key_groups = range(groups) if key_groups is None else key_groups
    if kind == "heap":
        return HeapKeyedBackend(groups, key_groups)
    directory = Path(tempfile.gettempdir(), f"headrace-test-{next(_numbers)}")
    return (DiskKeyedBackend if kind == "disk" else ForgetfulBackend)(groups, key_groups, directory, 1 << 20)


def plain(delta):
    """A delta or snapshot as plain dicts and lists."""
    return {name: {group: list(entries) for group, entries in by_group.items()} for name, by_group in delta.items()}
