"""Interrupts an operator of tables in the middle of its input: what it emits in all must be as if nothing had happened.

A run takes checkpoints between some steps of a script, as deltas on top of each other, like a job. Now and then it crashes:
all results since the last checkpoint are discarded, and new subtasks, one, two or three, start from the deltas of that
checkpoint.
"""

import pickle
import random
from collections import Counter

from tests.unit.operators.table.driving import Driven
from tests.unit.state.backends import plain

from headrace.operators.table.batches import TableColumns

BACKENDS = ("heap", "disk", "disk without memory")


class Interrupted(Driven):
    """Subtasks with checkpoints. With `columns`, operators that take columns receive columns."""

    def __init__(self, spec, keys, backend="heap", columns=False, kinds=()):
        self.codecs = None
        if columns:
            self.codecs = [TableColumns(kind, bool(kinds and kinds[i])) for i, kind in enumerate(spec.types)]
        self.chain = []
        super().__init__(spec, *keys, backend=backend)

    def checkpoint(self):
        """Return what a crash from now on goes back to."""
        for operator in self.operators:
            operator.end_epoch()
            operator.snapshot(1, 0)
            keyed = operator.context.keyed_state
            self.chain.append(pickle.dumps((plain(keyed.collect_delta()), keyed.state_kinds())))
        return len(self.chain), self.watermark, self.clock.now()

    def crash(self, checkpoint, parallelism):
        """Start again from a checkpoint."""
        for operator in self.operators:
            operator.close()
            operator.context.keyed_state.close()
        length, self.watermark, now = checkpoint
        del self.chain[length:]
        self.clock.set(now)
        self.rows.clear()
        self._start(parallelism, [pickle.loads(each) for each in self.chain])

    def hand_over(self, operator, number, values, keys):
        if self.codecs is not None and operator.takes_columns:
            values, keys = self.codecs[number].run(values), None
        super().hand_over(operator, number, values, keys)


def run(spec, keys, script, backend="heap", columns=False, kinds=(), chance=None, most=3):
    """Return the results of a script as a multiset, and the entries that are left. With `chance`, it is interrupted."""
    driven = Interrupted(spec, keys, backend, columns, kinds)
    results, taken, crashes = [], None, 0
    try:
        step = 0
        while step < len(script):
            results += driven.step(pickle.loads(pickle.dumps(script[step])))  # a replay brings new objects
            step += 1
            if chance is None:
                continue
            if chance.random() < 0.4:
                checkpoint = driven.checkpoint()
                results += driven.take()  # of `end_epoch`: they belong to the checkpoint
                taken = (checkpoint, step, results[:])
            if taken is not None and crashes < 12 and chance.random() < 0.25:
                crashes += 1
                driven.crash(taken[0], chance.randint(1, most))
                step, results = taken[1], taken[2][:]
        driven.checkpoint()
        results += driven.take()
        return Counter(map(repr, results)), driven.entries()
    finally:
        driven.close()


def check_interrupted(spec, keys, script, left=None, expires=False, columns=False, kinds=(), most=3, seeds=2):
    """Compare interrupted runs on all backends with one that is not.

    `left` is the number of entries in state at the end. Entries that have expired may still be there or not.
    """
    wanted, entries = run(spec, keys, script, "heap", columns, kinds)
    assert wanted, "the script has no results"
    if left is not None:
        assert entries == left
    for backend in BACKENDS:
        for seed in range(seeds if backend == "heap" else 1):
            chance = random.Random(f"{backend}/{seed}")
            found, rest = run(spec, keys, script, backend, columns, kinds, chance, most)
            assert found == wanted, f"{backend} {seed}: lost {wanted - found}, too many {found - wanted}"
            assert expires or rest == entries, f"{backend} {seed}"
    return wanted


class Clock:
    """Draws scripts of rows in event time, a little out of order, some of them late, with watermarks in between."""

    def __init__(self, seed, steps=30, most=8, least=1, jitter=20, keys=("a", "b", "c", "d", None)):
        self.chance = random.Random(seed)
        self.steps, self.most, self.least, self.jitter, self.keys = steps, most, least, jitter, keys

    def times(self):
        """Yield ("rows", their times in milliseconds) and ("watermark", ms), the end of all time last."""
        now, mark = 1000, 0
        for _ in range(self.steps):
            count = self.chance.randint(self.least, self.most)
            now += self.chance.randint(0, 30)
            yield "rows", [max(1, now - self.chance.randint(0, self.jitter)) for _ in range(count)]
            if self.chance.random() < 0.5:
                mark = max(mark, now - self.jitter // 2)
                yield "watermark", mark
        yield "watermark", now + 1_000_000

    def key(self):
        return self.chance.choice(self.keys)


def one_input(seed, **options):
    """Return a script of rows (time, key, number, text)."""
    clock = Clock(seed, **options)
    chance, script = clock.chance, []
    for kind, what in clock.times():
        if kind == "watermark":
            script.append((kind, what))
        else:
            numbers = [None if chance.random() < 0.1 else chance.randint(-50, 50) for _ in what]
            rows = [(time * 1000, clock.key(), number, chance.choice("xyz")) for time, number in zip(what, numbers)]
            script.append(("left", *rows))
    return script


def two_inputs(seed, **options):
    """Return a script of rows (key, time, number) for two inputs."""
    clock = Clock(seed, **options)
    script, number = [], 0
    for kind, what in clock.times():
        if kind == "watermark":
            script.append((kind, what))
            continue
        rows = []
        for time in what:
            number += 1
            rows.append((clock.key(), time * 1000, number))
        script.append((clock.chance.choice(("left", "right")), *rows))
    return script


def changes(seed, steps=40, sides=("left",), keys=("a", "b", "c", None), upserts=False):
    """Return a script of changes (key, id, number, kind) in which only rows that exist are retracted."""
    chance, script = random.Random(seed), []
    present = {side: [] for side in sides}
    for number in range(steps):
        side = chance.choice(sides)
        rows, batch = present[side], []
        for _ in range(chance.randint(1, 5)):
            turn = chance.random()
            if rows and turn < 0.3:
                old = rows.pop(chance.randrange(len(rows)))
                batch.append((*old, 3))
            elif rows and turn < 0.6:
                place = chance.randrange(len(rows))
                old = rows[place]
                rows[place] = (old[0], old[1], chance.randint(0, 9))
                batch += [(*rows[place], 2)] if upserts else [(*old, 1), (*rows[place], 2)]
            else:
                rows.append((chance.choice(keys), number * 10 + len(batch), chance.randint(0, 9)))
                batch.append((*rows[-1], 0))
        script.append((side, *batch))
    return script
