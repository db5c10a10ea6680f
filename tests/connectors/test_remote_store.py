"""Records of checkpoints on real stores: what other processes write is seen at once, and of several that create one wins."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING

import fsspec
import pytest

from headrace.checkpoint.errors import StoreError
from headrace.checkpoint.model import FileEntry, Generation
from headrace.checkpoint.remote_store import RemoteStore
from headrace.connectors.base import staging

if TYPE_CHECKING:
    from hadoop_kit.hdfs import Hdfs
    from s3_server import S3Server


@pytest.fixture(params=["s3", "webhdfs", "hdfs"])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give an empty folder on each kind of store."""
    if request.param == "s3":
        server: S3Server = request.getfixturevalue("s3")
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        return f"{server.bucket()}/job"
    hadoop: Hdfs = request.getfixturevalue("hdfs")
    return f"{hadoop.address if request.param == 'hdfs' else hadoop.web_address}/{uuid.uuid4().hex}"


def test_files_of_other_processes_are_seen(url: str) -> None:
    store = RemoteStore(url, "job")
    assert store.create("generations/0000000001", Generation("job", 1, "a"))
    other = fsspec.filesystem(url.partition(":")[0], skip_instance_cache=True, **_options(url))
    _, path = fsspec.core.url_to_fs(url)
    other.makedirs(f"{path}/state", exist_ok=True)
    for name in ("first", "second"):
        assert f"state/{name}" not in store.list("state/")  # what is listed is remembered by some file systems
        with other.open(f"{path}/state/{name}", "wb") as file:
            file.write(b"abc")
        assert store.problem_of(FileEntry("v/0", name, 3, 0)) is None
        with staging.open_staged(f"{url}/state/{name}", "It is lost") as opened:
            assert opened.read() == b"abc"
        assert f"state/{name}" in store.list("state/")
    assert store.problem_of(FileEntry("v/0", "third", 3, 0)) == "it is missing"


def test_one_of_several_creates_a_record(url: str) -> None:
    won: list[str] = []
    start = threading.Barrier(4)

    def claim(attempt: str) -> None:
        store = RemoteStore(url, "job")
        start.wait()
        if store.create("generations/0000000001", Generation("job", 1, attempt)):
            won.append(attempt)

    threads = [threading.Thread(target=claim, args=(f"driver-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = RemoteStore(url, "job")
    assert won == [store.read("generations/0000000001").attempt]
    assert store.list("temporary/") == [], "the others leave nothing"


@pytest.mark.parametrize("url", ["s3"], indirect=True)
def test_a_store_that_does_not_answer_refuses(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of the HTTP client are no OSError, and say nothing about what is stored."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fsspec.filesystem("s3").clear_instance_cache()
    try:
        store = RemoteStore(url, "job")
        store._system.retries = 1
        with pytest.raises(StoreError):
            store.list("slots/")
        with pytest.raises(StoreError):
            store.problem_of(FileEntry("v/0", "first", 3, 0))
        with pytest.raises(StoreError):
            store.read("slots/0000000001")
    finally:
        fsspec.filesystem("s3").clear_instance_cache()


def _options(url: str) -> dict[str, object]:
    if url.startswith("s3:"):
        return {}
    host, _, port = url.split("/")[2].partition(":")
    return {"host": host, "port": int(port)}
