"""Lines of text files: ends of lines, charsets, positions, listing of paths."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.common.errors import InvalidProgramError
from headrace.connectors.base.split_enumerator import SplitProgress
from headrace.connectors.base.split_reader import ReaderContext
from headrace.connectors.files import text_file
from headrace.connectors.files.enumerator import list_files
from headrace.connectors.files.source import Files
from headrace.connectors.files.text_file import TextLines


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(text_file, "_CHUNK", 7)


def lines_of(path, charset="UTF-8", limit=3, reopen_every=0):
    source = Files((str(path),), TextLines(charset))
    (split,) = source.enumerator().start(1)
    reader = source.open_reader(split, None, ReaderContext())
    lines, reads = [], 0
    while not reader.finished:
        batch = reader.read(limit, 0)
        assert 0 < len(batch.values) <= limit
        lines += batch.values
        reads += 1
        if reopen_every and reads % reopen_every == 0:
            position = reader.position()
            reader.close()
            reader = source.open_reader(split, position, ReaderContext())
    reader.close()
    return lines


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb", ["a", "b"]),
        (b"one line that is longer than a chunk\nshort\n", ["one line that is longer than a chunk", "short"]),
        ("grün\x0b\x85\u2028x\n".encode(), ["grün\x0b\x85\u2028x"]),
        (b"a\xffb\n", ["a\ufffdb"]),
    ],
)
def test_lines(tmp_path, small_chunks, content, expected):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert lines_of(path) == expected
    assert lines_of(path, reopen_every=1) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=12)),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 9),
    st.integers(0, 3),
)
def test_any_text_any_position(tmp_path, small_chunks, lines, end, ended, limit, reopen_every):
    path = tmp_path / "file"
    text = end.join(lines) + (end if ended and lines else "")
    path.write_bytes(text.encode())
    expected = [line.rstrip("\n") for line in io.StringIO(text.replace("\r\n", "\n"))]
    assert lines_of(path, limit=limit, reopen_every=reopen_every) == expected


@pytest.mark.parametrize("charset", ["UTF-16", "utf-16-le", "UTF-32BE", "ISO-8859-1", "cp1252", "Big5"])
def test_charsets(tmp_path, small_chunks, charset):
    text = "中文\nab\n" if charset == "Big5" else "a\u00e9\n" * 20 + "z"
    path = tmp_path / "file"
    path.write_bytes(text.encode(charset))
    assert lines_of(path, charset) == text.removesuffix("\n").split("\n")
    assert lines_of(path, charset, reopen_every=2) == text.removesuffix("\n").split("\n")


def test_unknown_charset_and_no_path():
    with pytest.raises(InvalidProgramError, match="charset"):
        TextLines("no-such-charset")
    with pytest.raises(InvalidProgramError, match="at least one path"):
        Files((), TextLines())


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_compressed_files(tmp_path, small_chunks, suffix, opener):
    path = tmp_path / f"file{suffix}"
    with opener(path, "wt") as file:
        file.write("a\nbb\nccc\n" * 5)
    assert lines_of(path, reopen_every=2) == ["a", "bb", "ccc"] * 5


def test_listing(tmp_path):
    for name in ("b.txt", "a.txt", "sub/c.csv", ".hidden", "_meta", "sub/_x/d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    root = str(tmp_path)

    def names(*paths):
        return [os.path.relpath(f, root) for f in list_files(paths)]

    assert names(root) == ["a.txt", "b.txt", "sub/c.csv"]
    assert names(f"{root}/*.txt") == ["a.txt", "b.txt"]
    assert names(f"{root}/**/*.csv") == ["sub/c.csv"]
    assert names(f"{root}/b.txt", root) == ["b.txt", "a.txt", "sub/c.csv"]
    assert names(Path(tmp_path).as_uri() + "/a.txt") == ["a.txt"]
    for path, message in (("nothing", "does not exist"), ("*.no", "matches no file"), ("hdfs://h/x", "scheme 'hdfs'")):
        with pytest.raises(InvalidProgramError, match=message):
            list_files([path if ":" in path else f"{root}/{path}"])
    assert list_files([f"{root}/nothing"], may_be_missing=True) == []


def test_new_files_are_found(tmp_path):
    source = Files((str(tmp_path),), TextLines(), monitor_seconds=0)
    enumerator = source.enumerator()
    assert not source.bounded and enumerator.start(1) == []
    (tmp_path / "new").write_text("a")
    (found,) = enumerator.discover(SplitProgress())
    assert enumerator.discover(SplitProgress(frozenset([found.id]))) == []
    slow = Files((str(tmp_path),), TextLines(), monitor_seconds=3600).enumerator()
    slow.start(1)
    (tmp_path / "newer").write_text("a")
    assert slow.discover(SplitProgress()) == []
    assert Files((str(tmp_path),), TextLines()).enumerator().discover(SplitProgress()) == []


def test_a_listing_that_fails_is_repeated(tmp_path, monkeypatch, caplog):
    enumerator = Files((str(tmp_path),), TextLines(), monitor_seconds=0).enumerator()
    enumerator.start(1)
    (tmp_path / "new").write_text("a")
    with monkeypatch.context() as broken:
        broken.setattr("headrace.connectors.files.enumerator.list_files", fail)
        assert enumerator.discover(SplitProgress()) == []
    assert "the store is away" in caplog.text
    assert [Path(split.id).name for split in enumerator.discover(SplitProgress())] == ["new"]


def fail(*args, **options):
    raise OSError("the store is away")
