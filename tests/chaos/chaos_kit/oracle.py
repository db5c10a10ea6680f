"""What the job must put out, computed by one thread in one go. Knows Flink's rules, and nothing of headrace.

Records of source 1 come in order with known watermarks in between, so that also what is late is known exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from chaos_kit.records import SPLITS, Record, split_records, watermarks

GAP, SIZE, SLIDE, NEAR, WITHIN, BEAT = 35, 200, 100, 50, 300, 500
END = 1 << 62


def expected(seed: int, count: int) -> Counter[str]:
    """All lines of output, with how often each must be there."""
    lines: list[str] = []
    for source, splits in enumerate(SPLITS):
        for split in range(splits):
            records = split_records(seed, source, split, count)
            lines += [f"A|{r.id}|{r.payload}|{r.check}" for r in records]
            lines += [f"B|{source}|{r.key}|{r.seq}|{r.seq}|ok" for r in records]
    by_key: dict[int, list[Record]] = defaultdict(list)
    marks = watermarks(seed, 1, 0, count)
    for record in split_records(seed, 1, 0, count):
        by_key[record.key].append(record)
    others: dict[int, list[Record]] = defaultdict(list)
    for record in split_records(seed, 2, 0, count):
        if not record.late:
            others[record.key].append(record)
    for key, records in by_key.items():
        lines += sessions(key, records, marks)
        lines += sliding(key, records, marks)
        lines += beats(key, records, marks)
        timely = [r for r in records if not r.late]
        lines += [f"J|{key}|{a.id}|{b.id}" for a in timely for b in others[key] if abs(b.time - a.time) <= NEAR]
        lines += pattern(key, sorted(timely, key=lambda r: r.time))
    return Counter(lines)


def steps(records: list[Record], marks: dict[int, int]) -> Iterator[tuple[Record | None, int]]:
    """The records of a key, and (None, watermark) where event time has come so far; the end of time last."""
    mark, left = -END, sorted(marks)
    for record in records:
        while left and left[0] <= record.index:
            mark = marks[left.pop(0)]
            yield None, mark
        yield record, mark
    for position in left:
        yield None, marks[position]
    yield None, END


def sessions(key: int, records: list[Record], marks: dict[int, int]) -> Iterator[str]:
    windows: dict[tuple[int, int], tuple[int, int]] = {}
    for record, mark in steps(records, marks):
        if record is None:
            for start, end in sorted(w for w in windows if w[1] - 1 <= mark):
                count, total = windows.pop((start, end))
                yield f"S|{key}|{start}|{end}|{count}|{total}"
            continue
        touched = [w for w in windows if w[0] <= record.time + GAP and w[1] >= record.time]
        start = min([record.time, *(w[0] for w in touched)])
        end = max([record.time + GAP, *(w[1] for w in touched)])
        if end - 1 <= mark:
            yield f"X|{record.id}"
            continue
        parts = [(1, record.seq), *(windows.pop(w) for w in touched)]
        windows[start, end] = (sum(c for c, _ in parts), sum(t for _, t in parts))


def sliding(key: int, records: list[Record], marks: dict[int, int]) -> Iterator[str]:
    windows: dict[int, tuple[int, int]] = {}
    for record, mark in steps(records, marks):
        if record is None:
            for start in sorted(s for s in windows if s + SIZE - 1 <= mark):
                count, total = windows.pop(start)
                yield f"W|{key}|{start}|{start + SIZE}|{count}|{total}"
            continue
        last = record.time - record.time % SLIDE
        open_ones = [s for s in range(last, record.time - SIZE, -SLIDE) if s + SIZE - 1 > mark]
        for start in open_ones:
            count, total = windows.get(start, (0, 0))
            windows[start] = (count + 1, total + record.seq)
        if not open_ones and record.time <= mark:
            yield f"Y|{record.id}"


def beats(key: int, records: list[Record], marks: dict[int, int]) -> Iterator[str]:
    timers: set[int] = set()
    since = 0
    for record, mark in steps(records, marks):
        if record is not None:
            since += 1
            timers.add(record.time // BEAT * BEAT + BEAT)
            continue
        for timer in sorted(t for t in timers if t <= mark):
            yield f"T|{key}|{timer}|{since}"
            timers.discard(timer)
            since = 0


def pattern(key: int, records: list[Record]) -> Iterator[str]:
    begun: list[Record] = []
    for record in records:
        begun = [x for x in begun if record.time - x.time < WITHIN]
        if record.seq % 3 == 1:
            yield from (f"P|{key}|{x.id}|{record.id}" for x in begun)
            begun = []
        elif record.seq % 3 == 0:
            begun.append(record)
