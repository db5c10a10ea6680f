"""Drives one operator of tables through a script, on any backend, with restarts and changes of parallelism between steps.

A script is a list of steps: ("left", row, ...), ("right", row, ...), ("watermark", ms) or ("clock", ms). `play` returns the
rows that each step emits.
"""

import pickle

from tests.unit.state.backends import make_backend, plain

from headrace.graph.table_specs import TableKey
from headrace.operators.clock import ManualClock
from headrace.operators.context import OperatorContext, TaskInfo
from headrace.operators.table.factory import create
from headrace.state.key_groups import key_group_range, subtask_of
from headrace.state.opaque_key import filed_keys
from headrace.state.operator_state import OperatorStateBackend

GROUPS = 128
MODES = ("heap", "restart", "rescale", "disk without memory")


class _Recorder:
    takes_columns = False

    def __init__(self, rows):
        self.rows = rows

    def process_batch(self, values, timestamps, keys):
        assert timestamps is None
        self.rows.extend(values)

    def process_watermark(self, timestamp):
        pass

    process_idle = process_clock = process_marker = process_watermark


class Driven:
    """The subtasks of one operator."""

    def __init__(self, spec, *keys, backend="heap", parallelism=1, clock=0):
        self.spec, self.backend = spec, backend
        self.selectors = [TableKey(columns) for columns in keys]
        self.rows = []
        self.clock = ManualClock(clock)
        self.watermark = None
        self._start(parallelism, [])

    def _start(self, parallelism, states):
        self.operators = []
        for subtask in range(parallelism):
            task = TaskInfo("0" * 32, "test", "test", subtask, parallelism, GROUPS, 0)
            keyed = make_backend(self.backend, GROUPS, key_group_range(subtask, GROUPS, parallelism))
            for delta, kinds in states:
                keyed.apply(delta, kinds)
            context = OperatorContext(
                task, "operator", "operator", None, keyed, OperatorStateBackend(), self.clock, driver=None
            )
            operator = create(self.spec)
            operator.setup(context)
            operator.output.main.append(_Recorder(self.rows))
            if self.watermark is not None:
                operator.watermark = self.watermark
            operator.open()
            self.operators.append(operator)

    def restart(self, parallelism=1):
        states = []
        for operator in self.operators:
            operator.end_epoch()
            operator.snapshot(1, 0)
            keyed = operator.context.keyed_state
            states.append(pickle.loads(pickle.dumps((plain(keyed.snapshot_full()), keyed.state_kinds()))))
            operator.close()
            keyed.close()
        self._start(parallelism, states)

    def left(self, *rows):
        return self._feed(0, rows)

    def right(self, *rows):
        return self._feed(1, rows)

    def _feed(self, number, rows):
        selector = self.selectors[number]
        runs = {}
        for row in rows:
            key = filed_keys([selector(row)])[0]
            group = self.operators[0].context.keyed_state._groups[key]
            subtask = subtask_of(group, GROUPS, len(self.operators))
            runs.setdefault(subtask, ([], []))
            runs[subtask][0].append(row)
            runs[subtask][1].append(key)
        for subtask, (values, keys) in runs.items():
            self.hand_over(self.operators[subtask], number, values, keys)
        return self.take()

    def hand_over(self, operator, number, values, keys):
        (operator.process_batch if number == 0 else operator.process_batch2)(values, None, keys)
        operator.context.keyed_state.make_room()

    def to(self, watermark):
        self.watermark = watermark
        for operator in self.operators:
            operator.process_watermark(watermark)
        return self.take()

    def at(self, now):
        self.clock.set(now)
        for operator in self.operators:
            operator.advance_processing_time(now)
        return self.take()

    def take(self):
        taken = self.rows[:]
        self.rows.clear()
        return taken

    def entries(self):
        """How many entries and timers the state has."""
        count = 0
        for operator in self.operators:
            operator.end_epoch()
            snapshot = plain(operator.context.keyed_state.snapshot_full())
            count += sum(len(entries) for by_group in snapshot.values() for entries in by_group.values())
        return count

    def close(self):
        for operator in self.operators:
            operator.close()
            operator.context.keyed_state.close()

    def step(self, step):
        kind, *arguments = step
        return {"left": self.left, "right": self.right, "watermark": self.to, "clock": self.at}[kind](*arguments)


def play(spec, keys, script, mode="heap", end=None):
    """Run a script. Return the rows of each step, and the number of entries that are left in state at the end."""
    backend = "disk" if mode.endswith("on disk") else mode if "disk" in mode else "heap"
    driven = Driven(spec, *keys, backend=backend)
    results = []
    try:
        for number, step in enumerate(script):
            results.append(driven.step(step))
            if mode.startswith("rescale"):
                driven.restart((2, 3, 1)[number % 3])
            elif mode == "restart":
                driven.restart()
        return results, driven.entries()
    finally:
        driven.close()


def check(spec, keys, script, left=None):
    """Run a script of (step, expected rows) in all modes; `left` is the number of entries in state at the end."""
    steps = [step for step, _ in script]
    expected = [rows for _, rows in script]
    for mode in MODES:
        results, entries = play(spec, keys, steps, mode)
        if mode in ("heap", "restart"):
            assert results == expected, mode
        else:  # several subtasks, and maps on disk have another order
            assert [sorted(rows, key=repr) for rows in results] == [sorted(rows, key=repr) for rows in expected], mode
        if left is not None:
            assert entries == left, mode
