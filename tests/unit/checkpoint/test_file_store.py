"""The store on real files: create-if-absent, durability's order, and files that must not be used."""

import os
import threading
import zlib

import pytest

from headrace.checkpoint import file_store, names
from headrace.checkpoint.errors import DamagedRecordError, OutcomeUnknownError, RecordMissingError, StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.model import FileEntry, Generation, Manifest, Marker
from headrace.checkpoint.record_format import encode

SLOT = names.entry_name(7)


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "root", "job")


def manifest(attempt="a", epoch=7, job="job"):
    files = (FileEntry("v/0", "v-0-e0000000007-g0000000001-0.delta", 3, zlib.crc32(b"abc")),)
    return Manifest(job, 1, epoch, attempt, None, files, positions={"s": 4})


def test_create_read_list_delete(store):
    assert store.create(SLOT, manifest())
    assert not store.create(SLOT, manifest("b"))
    assert store.read(SLOT) == manifest()
    assert store.list(names.LOG) == [SLOT]
    assert store.list(names.TEMPORARIES) == []
    store.delete(SLOT)
    store.delete(SLOT)
    with pytest.raises(RecordMissingError, match=SLOT):
        store.read(SLOT)


def test_of_many_one_wins(tmp_path):
    stores = [FileStore(tmp_path, "job") for _ in range(8)]
    for epoch in range(1, 30):
        barrier, wins = threading.Barrier(len(stores)), []

        def race(number, epoch=epoch, barrier=barrier, wins=wins):
            barrier.wait()
            if stores[number].create(names.entry_name(epoch), manifest(f"d{number}", epoch)):
                wins.append(f"d{number}")

        threads = [threading.Thread(target=race, args=(n,)) for n in range(len(stores))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [stores[0].read(names.entry_name(epoch)).attempt] == wins
    assert stores[0].list(names.TEMPORARIES) == []


def test_half_a_record_is_never_seen(store):
    seen = []

    def inside():
        seen.append((store.list(names.LOG), len(store.list(names.TEMPORARIES))))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.create(SLOT, manifest(), inside)
    assert seen == [([], 1)]
    assert store.create(SLOT, manifest())


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux to name a descriptor")
def test_the_record_is_durable_before_its_name_and_the_name_before_the_answer(store, monkeypatch):
    story = []
    fsync, link = os.fsync, os.link
    monkeypatch.setattr(os, "fsync", lambda d: (story.append(os.readlink(f"/proc/self/fd/{d}")), fsync(d)))
    monkeypatch.setattr(os, "link", lambda a, b: (story.append("link"), link(a, b)))
    store.create(SLOT, manifest())
    assert len(story) == 3
    assert "/temporary/" in story[0]
    assert story[1] == "link"
    assert story[2].endswith("/slots")


def test_no_space_leaves_nothing(store, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        store.create(SLOT, manifest())
    monkeypatch.undo()
    assert store.list(names.LOG) == store.list(names.TEMPORARIES) == []


def test_a_name_that_may_not_be_durable_is_no_success(store, monkeypatch):
    def failing(folder):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(file_store, "make_durable", failing)
    with pytest.raises(OutcomeUnknownError):
        store.create(SLOT, manifest())
    with pytest.raises(OutcomeUnknownError):  # nor is another's record to be acted on
        store.create(SLOT, manifest("b"))
    monkeypatch.undo()
    assert not store.create(SLOT, manifest())
    assert store.read(SLOT) == manifest()


def test_a_link_whose_answer_got_lost(store, monkeypatch):
    link = os.link

    def lost(source, target):
        link(source, target)
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(os, "link", lost)
    assert store.create(SLOT, manifest())


def test_damage_on_disk_is_refused_by_name(store, tmp_path):
    store.create(SLOT, manifest())
    path = tmp_path / "root" / SLOT
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedRecordError, match=SLOT):
            store.read(SLOT)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedRecordError, match=SLOT):
            store.read(SLOT)
    for start in range(0, len(whole), 16):
        path.write_bytes(whole[:start] + bytes(len(whole[start : start + 16])) + whole[start + 16 :])
        with pytest.raises(DamagedRecordError, match=SLOT):
            store.read(SLOT)
    path.write_bytes(whole)
    assert store.read(SLOT) == manifest()


def test_swapped_copied_and_foreign_files(store, tmp_path):
    root = tmp_path / "root"
    store.create(SLOT, manifest())
    store.create(names.entry_name(8), manifest(epoch=8))
    store.create(names.marker_name(7), Marker("job", 1, 7, "a"))
    seven, eight = (root / SLOT).read_bytes(), (root / names.entry_name(8)).read_bytes()
    (root / SLOT).write_bytes(eight)
    (root / names.entry_name(8)).write_bytes(seven)
    (root / names.marker_name(7)).write_bytes(seven)
    for name in (SLOT, names.entry_name(8), names.marker_name(7)):
        with pytest.raises(DamagedRecordError, match=name):
            store.read(name)
    (root / SLOT).write_bytes(encode(manifest(job="other")))
    with pytest.raises(DamagedRecordError, match="belongs to job 'other'"):
        store.read(SLOT)


def test_state_files(store):
    file = manifest().files[0]
    assert store.problem_of(file) == "it is missing"
    path = store.files / file.name
    path.write_bytes(b"abc")
    assert store.problem_of(file) is None
    path.write_bytes(b"abd")
    assert "checksum" in store.problem_of(file)
    path.write_bytes(b"ab")
    assert store.problem_of(file) == "it has 2 bytes, not 3"


@pytest.mark.parametrize("name", ["../x", "a/b", "", "..", ".", "/etc/passwd", "x\0y"])
def test_names_cannot_leave_the_root(store, name):
    assert "plain name" in store.problem_of(FileEntry("v/0", name, 0, 0))
    with pytest.raises(StoreError):
        store.delete(names.FILES + name)
    with pytest.raises(StoreError):
        store.read(name)


def test_links_are_not_followed(store, tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(encode(manifest()))
    (tmp_path / "root" / SLOT).symlink_to(outside)
    with pytest.raises(StoreError):
        store.read(SLOT)


def test_an_unknown_folder(store):
    with pytest.raises(StoreError):
        store.list("secrets/")
    with pytest.raises(StoreError):
        store.create("secrets/0000000001", Generation("job", 1, "a"))


def test_a_root_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        FileStore(tmp_path / "file", "job")
