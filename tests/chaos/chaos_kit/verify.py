"""Counts committed output against the oracle's. A program of its own: `python -m chaos_kit.verify ROOT SEED RECORDS [JOURNAL [RETAINED [rescaled [WORKLOAD]]]]`.

Reads what is committed, the records in the checkpoint folder, and a journal of what was seen in it between lives. Prints one
line of JSON and ends with 0 if nothing is lost, nothing is there twice and no invariant is broken. Imports nothing of headrace.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
import zlib
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

from chaos_kit import sql_oracle
from chaos_kit.oracle import expected
from chaos_kit.records import SPLITS

_NAME = re.compile(r"(.+)-(\d+)-e(\d{10})-g(\d{10})-(\d+)\.(\d+)")
_SHOWN = 5


def read_committed(folder: Path, problems: list[str], rescaled: bool) -> list[str]:
    """All lines of each sink in the order of their epochs. Checks I6 (whole handles), operator state, and I7 by names."""
    parts: dict[str, list[tuple[int, int, int, int, Path]]] = defaultdict(list)
    generations: dict[int, set[int]] = defaultdict(set)
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match is None:
            problems.append(f"I6: {path.name} is no handle")
            continue
        checkpoint, generation = int(match[3]), int(match[4])
        generations[checkpoint].add(generation)
        parts[match[1]].append((checkpoint, generation, int(match[5]), int(match[2]), path))
    newest = 0
    for checkpoint in sorted(generations):
        if len(generations[checkpoint]) > 1:
            problems.append(f"I7: checkpoint {checkpoint} was committed by {sorted(generations[checkpoint])}")
        if max(generations[checkpoint]) < newest:
            problems.append(f"I7: checkpoint {checkpoint} is of a generation before {newest}")
        newest = max(newest, *generations[checkpoint])
    lines: list[str] = []
    for who, files in sorted(parts.items()):
        totals: Counter[int] = Counter()
        for *_, subtask, path in sorted(files):
            text = path.read_text()
            body, _, tail = text.rpartition("#end ")
            own = body.splitlines()
            totals[subtask] += len(own)
            count, checksum, total = tail.split() if text.endswith("\n") and len(tail.split()) == 3 else ("", "", "")
            if (count, checksum) != (str(len(own)), str(zlib.crc32(body.encode()))):
                problems.append(f"I6: {path.name} is not whole: {tail!r}")
            elif not rescaled and total != str(totals[subtask]):
                problems.append(f"I4: subtask {subtask} of {who} has counted {total}, not {totals[subtask]} lines")
            lines += own
    return lines


def check_order(lines: list[str], problems: list[str]) -> None:
    """I3: the numbers of each key come in order."""
    last: dict[str, int] = {}
    for line in lines:
        if line.startswith("B|"):
            _, source, key, seq, *_ = line.split("|")
            if int(seq) != last.get(f"{source}|{key}", 0) + 1:
                problems.append(f"I3: {line} comes after {last.get(f'{source}|{key}', 0)}")
            last[f"{source}|{key}"] = int(seq)


def check_numbers(lines: list[str], count: int, problems: list[str]) -> None:
    """I4: each subtask of the counting map has counted from 1 on, without a gap; all together as many as there are records."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for line in lines:
        numbers[line.split("|")[1]].append(int(line.split("|")[2]))
    for subtask, found in numbers.items():
        if sorted(found) != list(range(1, len(found) + 1)):
            problems.append(f"I4: subtask {subtask} has not counted from 1 to {len(found)}")
    if len(lines) != count:
        problems.append(f"I1/I2: {len(lines)} of {count} records were counted")


def check_tokens(lines: list[str], ids: set[str], problems: list[str]) -> None:
    """F27: what a function said that is not deterministic is the same in both outputs, for each record once."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        _, way, name, token = line.split("|")
        found[way].append(f"{name}|{token}")
    if sorted(found["1"]) != sorted(found["2"]):
        problems.append(f"F27: {len(set(found['1']) ^ set(found['2']))} results are of different tries")
    if sorted(entry.partition("|")[0] for entry in found["1"]) != sorted(ids):
        problems.append("I1/I2: records of the function that is not deterministic are lost or twice")


def check_sinks(root: Path, wanted: Counter[str], problems: list[str]) -> None:
    """I5 for headrace's own sinks, where the trial has them: the lines of A in files that are finished, and in a table."""
    lines = Counter({line: n for line, n in wanted.items() if line.startswith("A|")})
    outputs: dict[str, Counter[str]] = {}
    if (root / "files").exists():
        parts = [p for p in (root / "files").rglob("*") if p.is_file() and not p.name.startswith(".")]
        outputs["files"] = Counter(line for p in parts for line in p.read_text().splitlines())
    if (root / "table.db").exists():
        with closing(sqlite3.connect(root / "table.db")) as database:
            outputs["table"] = Counter(row[0] for row in database.execute("SELECT line FROM lines"))
            if (staged := database.execute("SELECT count(*) FROM headrace_staged").fetchone()[0]) > 0:
                problems.append(f"I9: {staged} staged rows are left in the table")
    for name, found in outputs.items():
        lost, more = sum((lines - found).values()), sum((found - lines).values())
        if lost or more:
            problems.append(f"I1/I2: {lost} lines lost and {more} too many in {name}")


def slot_facts(path: Path) -> dict[str, Any]:
    """What the journal keeps of a slot: who decided it, and how far its sources are."""
    data = path.read_bytes()
    record = json.loads(data.partition(b"\n")[0])
    body = record["body"]
    positions = {
        part["split"]: part["position"].get("json") or 0
        for splits in body.get("positions", {}).values()
        for part in splits
    }
    return {
        "epoch": record["epoch"],
        "kind": record["kind"],
        "generation": record["generation"],
        "digest": hashlib.sha256(data).hexdigest(),
        "positions": positions,
        "watermark": body.get("watermarks", {}).get("job"),
    }


def check_journal(entries: list[dict[str, Any]], problems: list[str]) -> None:
    """I7: a slot is decided once; generations, positions and watermarks never go back."""
    decided: dict[int, dict[str, Any]] = {}
    for entry in entries:
        before = decided.setdefault(entry["epoch"], entry)
        if before["digest"] != entry["digest"]:
            problems.append(f"I7: slot {entry['epoch']} was decided twice")
    last: dict[str, Any] | None = None
    newest = 0
    for _, entry in sorted(decided.items()):
        if entry["generation"] < newest:
            problems.append(f"I7: slot {entry['epoch']} is of an older generation than the one before")
        newest = max(newest, entry["generation"])
        if entry["kind"] == "seal":
            continue
        if last is not None:
            back = [s for s, p in entry["positions"].items() if p < last["positions"].get(s, 0)]
            if back:
                problems.append(f"I7: splits {back} went back in epoch {entry['epoch']}")
            if entry["watermark"] < last["watermark"]:
                problems.append(f"I7: the watermark went back in epoch {entry['epoch']}")
        last = entry


def check_leaks(root: Path, retained: int, problems: list[str]) -> None:
    """I9: after the end nothing is left but the last checkpoint's records and what is committed."""
    staged = sorted(p.name for p in (root / "out" / "staged").iterdir())
    if staged:
        problems.append(f"I9: staged files are left: {staged[:_SHOWN]}")
    for job in (root / "checkpoints").iterdir():
        records = [json.loads(p.read_bytes().partition(b"\n")[0]) for p in (job / "slots").iterdir()]
        manifests = {r["epoch"]: r["body"] for r in records if r["kind"] == "manifest"}
        listed = {file[1] for body in manifests.values() for file in body["files"]}
        base = max(manifests, default=0)
        allowed = {
            "state": listed,
            "generations": {f"{max((r['generation'] for r in records), default=0):010d}"},
            "markers": {f"{epoch:010d}" for epoch in manifests},
            "slots": {f"{r['epoch']:010d}" for r in records if r["kind"] == "manifest" or r["epoch"] > base},
            "plans": set(),
            "temporary": set(),
        }
        if len(manifests) > retained:
            problems.append(f"I9: {len(manifests)} checkpoints are kept, not {retained}")
        for folder, names in allowed.items():
            found = sorted({p.name for p in (job / folder).iterdir()} - names)
            if found:
                problems.append(f"I9: {len(found)} entries too many in {folder}: {found[:_SHOWN]}")
    scratch = root / "tmp"
    shared = [p for p in scratch.glob("headrace-*-state") if not any(p.iterdir())]  # the parent of all disk state
    left = sorted({p.name for p in scratch.iterdir()} - {p.name for p in shared}) if scratch.exists() else []
    if left:
        problems.append(f"I9: temporary files are left: {left[:_SHOWN]}")


def verify(
    root: Path, seed: int, count: int, journal: list[dict[str, Any]], retained: int, rescaled: bool, workload: str = ""
) -> dict[str, Any]:
    problems: list[str] = []
    lines = read_committed(root / "out" / "committed", problems, rescaled)
    check_journal(journal, problems)
    check_leaks(root, retained, problems)
    check = check_sql if workload.startswith("sql") else check_streams
    wanted, found = check(
        root, seed, count, lines, problems, "rescaled" if check is check_streams and rescaled else workload
    )
    lost, more = wanted - found, found - wanted
    return {
        "lines": sum(wanted.values()),
        "lost": sum(lost.values()),
        "duplicated": sum(n for line, n in more.items() if line in wanted),
        "foreign": sum(n for line, n in more.items() if line not in wanted),
        "problems": problems,
        "examples": [*sorted(lost)[:_SHOWN], *sorted(more)[:_SHOWN]],
    }


def check_streams(
    root: Path, seed: int, count: int, lines: list[str], problems: list[str], how: str
) -> tuple[Counter[str], Counter[str]]:
    """Check the lines of the job of streams. Return what must be there, and what is."""
    check_order(lines, problems)
    wanted, rescaled = expected(seed, count), how == "rescaled"
    if not rescaled:
        check_numbers([line for line in lines if line.startswith("N|")], count * sum(SPLITS), problems)
    ids = {line.split("|")[1] for line in wanted if line.startswith("A|0.")}
    check_tokens([line for line in lines if line.startswith("E|")], ids, problems)
    check_sinks(root, wanted, problems)
    found = Counter(line for line in lines if not line.startswith(("N|", "E|")))
    return wanted, found


def check_sql(
    root: Path, seed: int, count: int, lines: list[str], problems: list[str], how: str
) -> tuple[Counter[str], Counter[str]]:
    """Check the lines of the SQL job; with mini-batches, not each change is known."""
    if "mini" not in how:
        sql_oracle.check_changes(lines, seed, count, problems)
    sql_oracle.check_files(root, seed, count, problems)
    return sql_oracle.expected(seed, count), sql_oracle.remaining(lines, problems)


def main(
    root: str, seed: str, count: str, journal: str = "", retained: str = "1", rescaled: str = "", workload: str = ""
) -> int:
    entries = [json.loads(line) for line in Path(journal).read_text().splitlines()] if journal else []
    report = verify(Path(root), int(seed), int(count), entries, int(retained), rescaled == "rescaled", workload)
    print(json.dumps(report))
    return int(any(report[k] for k in ("lost", "duplicated", "foreign", "problems")))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
