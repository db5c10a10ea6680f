"""The workflow on real files, with real interpreters: the order of steps, restarts, and fencing."""

import zlib

import pytest

from headrace.checkpoint import names
from headrace.checkpoint.errors import CheckpointError, CommitRefusedError, FencedError, RestoreRefusedError, StoreError
from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.model import Committable, FileEntry
from headrace.checkpoint.resolve import Verdict
from headrace.checkpoint.workflow import Workflow
from headrace.connectors.base.sink_committer import Handle
from headrace.foundation import faultpoints
from headrace.foundation.faultpoints import InjectedFaultError


class Sink:
    def __init__(self):
        self.prepared, self.visible, self.published, self.aborted = {}, [], [], []

    def prepare(self, committable):
        self.prepared[committable.handle.id] = committable

    def commit(self, committable):
        handle = committable.handle
        if handle.id in self.visible:
            return
        if handle.id not in self.prepared:
            raise CommitRefusedError("aborted", seen=handle.id)
        del self.prepared[handle.id]
        self.visible.append(handle.id)

    def abort(self, committable):
        handle = committable.handle
        self.aborted.append(handle.id)
        self.prepared.pop(handle.id, None)
        return handle.id not in self.visible

    def staged(self):
        return list(self.prepared.values())

    def untouched(self, epoch):
        return not any(f"e{epoch}" in h for h in self.visible)

    def publish(self, manifest):
        self.published.append(manifest.epoch)


class Job:
    """A driver, its store and its sink, with one task that writes one file."""

    def __init__(self, root, sink, name, retained=1):
        self.store = FileStore(root, "job")
        self.sink = sink
        self.interpreter = Interpreter(self.store, sink, sink)
        self.workflow = Workflow("job", name, retained)

    def start(self):
        decision = self.interpreter.run(self.workflow.take_over())
        if self.workflow.unfinished is not None:
            self.interpreter.run(self.workflow.finish())
        self.interpreter.run(self.workflow.discard())
        return decision

    def prepare(self):
        plan = self.interpreter.run(self.workflow.plan())
        content = f"state {plan.epoch}".encode()
        name = f"v-0-e{plan.epoch:010d}-g{plan.generation:010d}-{plan.attempt}"
        (self.store.files / name).write_bytes(content)
        handle = Committable("sink", Handle(f"e{plan.epoch}-{plan.attempt}", 0, plan.epoch, plan.generation))
        self.sink.prepare(handle)
        file = FileEntry("v/0", name, len(content), zlib.crc32(content))
        return self.workflow.manifest(plan, [file], [handle], {"s": plan.epoch})

    def epoch(self):
        manifest = self.prepare()
        self.complete(manifest)
        return manifest

    def complete(self, manifest):
        self.interpreter.run(self.workflow.decide_epoch(manifest))
        self.interpreter.run(self.workflow.finish())
        self.interpreter.run(self.workflow.collect())


@pytest.fixture
def sink():
    return Sink()


@pytest.fixture
def driver(tmp_path, sink):
    def make(name, retained=1):
        return Job(tmp_path, sink, name, retained)

    yield make
    faultpoints.disarm()


def test_a_life_without_faults(driver, sink):
    job = driver("a")
    assert job.start().verdict is Verdict.REDO
    for _ in range(3):
        job.epoch()
    assert sink.published == [1, 2, 3]
    assert len(sink.visible) == 3
    assert job.store.list(names.LOG) == [names.entry_name(3)]
    assert job.store.list(names.MARKERS) == [names.marker_name(3)]
    assert len(job.store.list(names.FILES)) == 1
    assert job.store.list(names.PLANS) == job.store.list(names.TEMPORARIES) == []


def test_the_steps_come_in_their_order(driver):
    job = driver("a")
    with faultpoints.counting() as reached:
        job.start()
        job.epoch()
        job.epoch()
    order = list(reached)
    assert order == [
        *("gen.claim.pre", "gen.claim.post", "plan.pre", "plan.torn", "plan.post"),
        *("manifest.pre", "manifest.torn", "manifest.post", "commit.pre", "commit.ambiguous", "commit.post"),
        *("marker.pre", "marker.torn", "marker.post", "publish.pre", "publish.post", "gc.pre", "gc.post", "gc.between"),
    ]


def test_the_next_driver_goes_on(driver):
    first = driver("a")
    first.start()
    manifest = first.epoch()
    second = driver("b")
    assert second.start().verdict is Verdict.GO_ON
    assert second.workflow.base == manifest
    assert (second.workflow.generation, second.workflow.epoch) == (2, 3)
    assert second.epoch().parent == 1


@pytest.mark.parametrize(
    ("point", "verdict", "visible"),
    [
        ("plan.post", Verdict.REDO, 0),
        ("manifest.torn", Verdict.REDO, 0),
        ("manifest.post", Verdict.REPLAY, 1),
        ("commit.ambiguous", Verdict.REPLAY, 1),
        ("marker.torn", Verdict.REPLAY, 1),
        ("marker.post", Verdict.GO_ON, 1),
    ],
)
def test_a_crash_and_what_follows(driver, sink, point, verdict, visible):
    first = driver("a")
    first.start()
    faultpoints.arm(f"{point}:1:raise")
    with pytest.raises(InjectedFaultError):
        first.epoch()
    faultpoints.disarm()
    second = driver("b")
    assert second.start().verdict is verdict
    assert len(sink.visible) == visible
    assert sink.prepared == {}
    second.epoch()
    assert len(sink.visible) == visible + 1


def test_a_zombie_cannot_take_the_slot(driver, sink):
    zombie, heir = driver("a"), driver("b")
    zombie.start()
    manifest = zombie.prepare()
    heir.start()
    with pytest.raises(FencedError):
        zombie.complete(manifest)
    heir.epoch()
    heir.epoch()  # the seal is collected: the zombie's slot looks free
    assert names.entry_name(1) not in heir.store.list(names.LOG)
    with pytest.raises(FencedError):
        zombie.complete(manifest)
    assert len(sink.visible) == 2
    with pytest.raises(FencedError):
        zombie.interpreter.run(zombie.workflow.finish())
    assert len(sink.visible) == 2


def test_a_manifest_of_the_zombie_that_came_in_time_is_kept(driver, sink):
    zombie, heir = driver("a"), driver("b")
    zombie.start()
    manifest = zombie.prepare()
    zombie.interpreter.run(zombie.workflow.decide_epoch(manifest))
    assert heir.start().verdict is Verdict.REPLAY
    assert heir.workflow.base == manifest
    assert len(sink.visible) == 1
    with pytest.raises(FencedError):
        zombie.interpreter.run(zombie.workflow.finish())


def test_no_space_for_the_manifest(driver, sink, monkeypatch):
    job = driver("a")
    job.start()
    manifest = job.prepare()
    monkeypatch.setattr(job.store, "create", lambda *a: (_ for _ in ()).throw(StoreError("full")))
    with pytest.raises(StoreError):
        job.complete(manifest)
    monkeypatch.undo()
    sink.abort(manifest.committables[0])
    assert job.workflow.unfinished is None
    assert job.epoch().epoch == 1
    assert len(sink.visible) == 1


def test_a_sink_that_is_down_is_asked_again(driver, sink, monkeypatch):
    job = driver("a")
    job.start()
    manifest = job.prepare()
    monkeypatch.setattr(sink, "commit", lambda handle: (_ for _ in ()).throw(ConnectionError()))
    with pytest.raises(ConnectionError):
        job.complete(manifest)
    assert job.workflow.unfinished is manifest
    monkeypatch.undo()
    job.interpreter.run(job.workflow.finish())
    assert job.workflow.unfinished is None
    assert len(sink.visible) == 1


def damage(job, name):
    path = job.store.files.parent / name
    path.write_bytes(path.read_bytes()[:-1])


def test_damage_behind_commits_is_refused_with_the_name_of_the_file(driver, sink):
    first = driver("a", retained=2)
    first.start()
    first.epoch()
    first.epoch()
    damage(first, names.entry_name(2))
    with pytest.raises(RestoreRefusedError) as refused:
        driver("b").start()
    assert refused.value.reason is Reason.MANIFEST_DAMAGED
    assert names.entry_name(2) in str(refused.value)


def test_a_damaged_state_file_is_refused_by_name(driver):
    first = driver("a")
    first.start()
    file = first.epoch().files[0]
    damage(first, names.FILES + file.name)
    with pytest.raises(RestoreRefusedError, match=r"missing or damaged") as refused:
        driver("b").start()
    assert file.name in str(refused.value)


def test_an_epoch_that_nobody_has_seen_is_withdrawn(driver, sink):
    first = driver("a")
    first.start()
    first.epoch()
    manifest = first.prepare()
    first.interpreter.run(first.workflow.decide_epoch(manifest))
    damage(first, names.entry_name(2))
    second = driver("b")
    decision = second.start()
    assert (decision.verdict, decision.withdraw, decision.base.epoch) == (Verdict.REDO, 2, 1)
    assert manifest.committables[0].handle.id in sink.aborted
    with pytest.raises(CommitRefusedError):
        sink.commit(manifest.committables[0])
    second.epoch()
    assert len(sink.visible) == 2


def test_a_damaged_marker_is_replaced(driver, sink):
    first = driver("a")
    first.start()
    first.epoch()
    damage(first, names.marker_name(1))
    assert driver("b").start().verdict is Verdict.REPLAY
    assert driver("c").start().verdict is Verdict.GO_ON
    assert len(sink.visible) == 1


def test_a_damaged_slot_in_the_way_of_a_manifest(driver):
    job = driver("a")
    job.start()
    manifest = job.prepare()
    (job.store.files.parent / names.entry_name(1)).write_bytes(b"half")
    with pytest.raises(CheckpointError) as error:
        job.complete(manifest)
    assert error.value.reason is Reason.MANIFEST_DAMAGED
