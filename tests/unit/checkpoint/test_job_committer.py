"""The committer of a whole job: it finds each sink, names it in errors, and counts."""

from types import SimpleNamespace

import pytest

from headrace.checkpoint.errors import CommitRefusedError
from headrace.checkpoint.job_committer import JobCommitter, JobPublisher
from headrace.checkpoint.manifests import IncompatibleStateError
from headrace.checkpoint.model import Committable, Manifest
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.errors import HeadraceError, UserCodeError
from headrace.graph.specs import Map, StagedSink


class Sink(SinkCommitter):
    """Combines all handles into one; fails as often as it is told."""

    def __init__(self, combines=False):
        self.combines, self.committed, self.failure, self.closed = combines, [], None, False

    def open_committer(self, job_id, sink_id):
        self.opened = job_id, sink_id
        return self

    def combined(self, handles):
        return [Handle("+".join(h.id for h in handles), 0, 1, 1)] if self.combines else handles

    def commit(self, handle):
        if self.failure is not None:
            raise self.failure
        self.committed.append(handle)

    def abort(self, handle):
        if self.failure is not None:
            raise self.failure
        return False

    def staged(self):
        return [handle("left")]

    def untouched(self, checkpoint):
        return checkpoint > 3

    def close(self):
        self.closed = True


def handle(name, generation=1):
    return Handle(name, 0, 1, generation)


def node(operator_id, spec):
    return SimpleNamespace(spec=spec, operator_id=operator_id, name=f"sink {operator_id}", uid=f"uid-{operator_id}")


def graph(**specs):
    nodes = [node(operator_id, spec) for operator_id, spec in specs.items()]
    return SimpleNamespace(
        vertices={n.operator_id: SimpleNamespace(id=n.operator_id, nodes=[n], head=n) for n in nodes}
    )


def committer(**sinks):
    return JobCommitter("job", graph(**{name: StagedSink(sink) for name, sink in sinks.items()}))


def value(job, sink, name):
    return next(v[0] for path, v in job.metrics()[sink].items() if path[-1] == name)


def test_only_sinks_with_a_committer_count():
    plain = SimpleNamespace(open_committer=lambda job_id, sink_id: None)
    assert not JobCommitter("job", graph(a=StagedSink(plain), b=Map(len)))
    one = Sink()
    assert committer(a=one)
    assert one.opened == ("job", "a")


def test_each_handle_goes_to_its_sink():
    one, two = Sink(), Sink()
    job = committer(a=one, b=two)
    job.commit(Committable("a", handle("x")))
    job.commit(Committable("b", handle("y")))
    assert [h.id for h in one.committed + two.committed] == ["x", "y"]
    assert [(sink, h.id) for sink, h in job.staged()] == [("a", "left"), ("b", "left")]
    assert (job.untouched(3), job.untouched(4)) == (False, True)
    job.close()
    assert one.closed and two.closed


def test_what_an_earlier_generation_staged_is_recovered():
    sink = Sink()
    job = committer(a=sink)
    job.generation = 2
    job.commit(Committable("a", handle("x", generation=1)))
    job.commit(Committable("a", handle("y", generation=2)))
    assert [h.recovered for h in sink.committed] == [True, False]


def test_a_sink_combines_its_handles_only():
    job = committer(a=Sink(combines=True), b=Sink())
    staged = [Committable("a", handle("1")), Committable("b", handle("2")), Committable("a", handle("3"))]
    assert [(sink, h.id) for sink, h in job.combined(staged)] == [("a", "1+3"), ("b", "2")]
    assert value(job, "a", "pendingCommittables") == 1


def test_output_of_a_sink_that_the_program_lacks():
    job = committer(a=Sink())
    with pytest.raises(IncompatibleStateError, match="x of operator gone"):
        job.commit(Committable("gone", handle("x")))
    assert job.abort(Committable("gone", handle("x"))) is False


def test_lost_output_is_refused_and_counted():
    sink = Sink()
    sink.failure = StagedOutputLostError("expired", seen="transaction 7")
    job = committer(a=sink)
    with pytest.raises(CommitRefusedError, match="expired") as error:
        job.commit(Committable("a", handle("x")))
    assert (error.value.operator_name, error.value.uid, error.value.seen) == ("sink a", "uid-a", "transaction 7")
    assert value(job, "a", "failedCommittables") == 1


@pytest.mark.parametrize(
    ("failure", "kind"), [(ValueError("down"), UserCodeError), (HeadraceError("down"), HeadraceError)]
)
def test_errors_name_the_sink(failure, kind):
    sink = Sink()
    sink.failure = failure
    job = committer(a=sink)
    for call in (job.commit, job.abort):
        with pytest.raises(kind, match="down") as error:
            call(Committable("a", handle("x")))
        assert (error.value.operator_name, error.value.uid) == ("sink a", "uid-a")
    assert value(job, "a", "retriedCommittables") == 1


def test_positions_are_published_once_and_never_backwards():
    published, heard = [], []
    publisher = JobPublisher(published.append, lambda manifest: heard.append(manifest.epoch))

    def manifest(epoch, offset):
        row = {"split": "p0", "payload": {"json": None}, "position": {"json": offset}, "finished": False}
        return Manifest("job", 1, epoch, "a", None, positions={"s": [row]})

    for one in (manifest(2, 20), manifest(2, 20), manifest(1, 10), manifest(3, 30)):
        publisher.publish(one)
    assert published == [{"s": {"p0": 20}}, {"s": {"p0": 30}}]
    assert heard == [2, 3]
