"""What the SQL job must put out. Knows Flink's rules, and nothing of headrace.

A line is `letter|kind of change|values`. The order of changes is known where one split feeds a key; of all others the rows
that remain in the end are known.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from chaos_kit.oracle import NEAR, SIZE, SLIDE, WITHIN, sessions, steps
from chaos_kit.records import SPLITS, Record, split_records, watermarks

SIGNS = {"+I": 1, "-U": -1, "+U": 1, "-D": -1}


def group(record: Record) -> int:
    """The column `v`."""
    return record.check % 5


def expected(seed: int, count: int) -> Counter[str]:
    """All rows that remain, as lines without the kind, with how often each must be there."""
    first = [r for split in range(SPLITS[0]) for r in split_records(seed, 0, split, count)]
    second, third = split_records(seed, 1, 0, count), split_records(seed, 2, 0, count)
    marks = watermarks(seed, 1, 0, count)
    lines: list[str] = []
    for key, records in by_key(first).items():
        *_, last = changes(key, records)
        lines.append(_body(last))
        best = sorted(records, key=lambda r: (group(r), r.seq), reverse=True)[:3]
        lines += [f"T|{key}|{r.seq}|{r.id}" for r in best]
    others = by_key([r for r in third if not r.late])
    for key, records in by_key(second).items():
        timely = [r for r in records if not r.late]
        lines += [line for line in sessions(key, records, marks) if line.startswith("S|")]
        lines += sliding(key, records, marks)
        lines += [f"J|{key}|{a.id}|{b.id}" for a in timely for b in others[key] if abs(b.time - a.time) <= NEAR]
        lines += firsts(key, timely)
        lines += matches(key, sorted(timely, key=lambda r: r.time))
    lines += joined(second, third)
    lines += doubled(first)
    return Counter(lines)


def by_key(records: list[Record] | tuple[Record, ...]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        found[record.key].append(record)
    return found


def changes(key: int, records: list[Record]) -> Iterator[str]:
    """G: each change of a group, in order."""
    total, values, before = 0, [], ""
    for number, record in enumerate(records, 1):
        values.append(group(record))
        total += values[-1]
        after = f"{key}|{number}|{total}|{max(values)}|{len(set(values))}"
        if before:
            yield f"G|-U|{before}"
        yield f"G|{'+U' if before else '+I'}|{after}"
        before = after


def sliding(key: int, records: list[Record], marks: dict[int, int]) -> Iterator[str]:
    windows: dict[int, list[Record]] = {}
    for record, mark in steps(records, marks):
        if record is None:
            for start in sorted(s for s in windows if s + SIZE - 1 <= mark):
                rows = windows.pop(start)
                values = {group(r) for r in rows}
                yield f"W|{key}|{start}|{start + SIZE}|{len(rows)}|{sum(r.seq for r in rows)}|{len(values)}"
            continue
        last = record.time - record.time % SLIDE
        for start in range(last, record.time - SIZE, -SLIDE):
            if start + SIZE - 1 > mark:
                windows.setdefault(start, []).append(record)


def firsts(key: int, records: list[Record]) -> Iterator[str]:
    found: dict[int, Record] = {}
    for record in sorted(records, key=lambda r: r.time):
        found.setdefault(group(record), record)
    for value, record in found.items():
        yield f"D|{key}|{value}|{record.id}"


def matches(key: int, records: list[Record]) -> Iterator[str]:
    at = 0
    while at + 1 < len(records):
        x, y = records[at : at + 2]
        if group(x) <= 2 and group(y) >= 2 and y.time - x.time < WITHIN:
            yield f"P|{key}|{x.id}|{y.id}"
            at += 1
        at += 1


def joined(left: tuple[Record, ...], right: tuple[Record, ...]) -> Iterator[str]:
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for record in right:
        groups[record.key, group(record)].append(record.seq)
    for record in left:
        found = groups.get((record.key, group(record)))
        yield f"R|{record.id}|{len(found)}|{sum(found)}" if found else f"R|{record.id}|null|null"


def doubled(records: list[Record]) -> Iterator[str]:
    keys: dict[int, set[int]] = defaultdict(set)
    totals: Counter[int] = Counter()
    for record in records:
        keys[group(record)].add(record.key)
        totals[group(record)] += 2 * record.seq
    for value, found in keys.items():
        yield f"M|{value}|{len(found)}|{totals[value]}"


def remaining(lines: list[str], problems: list[str]) -> Counter[str]:
    """Apply all changes in order. A row that is retracted must have been there."""
    rows: Counter[str] = Counter()
    for line in lines:
        body = _body(line)
        rows[body] += SIGNS[line.split("|")[1]]
        if rows[body] < 0 and len(problems) < 5:
            problems.append(f"I3: {line} retracts a row that is not there")
    return Counter({body: n for body, n in rows.items() if n})


def check_changes(lines: list[str], seed: int, count: int, problems: list[str]) -> None:
    """I3: all changes of G in order, none lost and none twice."""
    found: dict[int, list[str]] = defaultdict(list)
    for line in lines:
        if line.startswith("G|"):
            found[int(line.split("|")[2])].append(line)
    first = [r for split in range(SPLITS[0]) for r in split_records(seed, 0, split, count)]
    for key, records in by_key(first).items():
        if found[key] != list(changes(key, records)):
            problems.append(f"I3: the changes of key {key} are not those of its records: {found[key][-4:]}")


def check_files(root: Path, seed: int, count: int, problems: list[str]) -> None:
    """I5: an INSERT INTO files has written each row once."""
    parts = [p for p in (root / "rows").rglob("*") if p.is_file() and not p.name.startswith((".", "_"))]
    rows = [json.loads(line) for p in parts for line in p.read_text().splitlines()]
    found = Counter((row["k"], row["id"], row["seq"]) for row in rows)
    first = [r for split in range(SPLITS[0]) for r in split_records(seed, 0, split, count)]
    wanted = Counter((r.key, r.id, r.seq) for r in first if r.seq > 1)
    if found != wanted:
        lost, more = sum((wanted - found).values()), sum((found - wanted).values())
        problems.append(f"I1/I2: {lost} rows lost and {more} too many in the files of the INSERT")


def _body(line: str) -> str:
    letter, _, rest = line.split("|", 2)
    return f"{letter}|{rest}"
