"""Clients that mean harm: broken headers, connections that never send a request, archives made to fill memory or disk.

Each attack runs against a real dispatcher in this process, over real sockets.
"""

from __future__ import annotations

import io
import json
import resource
import socket
import threading
import time
import uuid
import warnings
import zipfile
from urllib.parse import urlsplit

import pytest
from service_kit import NUMBERS, Dispatcher, wait_for


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    made = Dispatcher(tmp_path_factory.mktemp("hostile"), longest_upload=3_000_000, header_seconds=1.0)
    yield made
    made.stop()


def archive(*entries: tuple[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", kind) as made:
        warnings.simplefilter("ignore")  # a name twice is what one of the attacks is
        for name, content in entries:
            made.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    "origin", ["http://[", "http://]", "http://[::1", "http://[x]", "//", "", "http://a b", "x" * 9000, "http://\x7f"]
)
def test_an_origin_that_cannot_be_read_is_refused(running, origin):
    for token in (None, running.token):
        headers = {"Origin": origin, **({} if token is None else {"Authorization": f"Bearer {token}"})}
        assert running.anonymous.call("GET", "/jobs", headers=headers)[0] == 403


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([("headrace-files/a", b"x"), ("headrace-files/a/b", b"y")], id="file and folder"),
        pytest.param([("headrace-files/a/b", b"x"), ("headrace-files/a", b"y")], id="folder and file"),
        pytest.param([("headrace-files/a/", b""), ("headrace-files/a", b"y")], id="folder entry and file"),
        pytest.param([("a.py", b"x"), ("a.py/b.py", b"y"), ("headrace-files/x", b"z")], id="among modules"),
        pytest.param([("headrace-files/a", b"x"), ("headrace-files/a", b"y")], id="twice"),
        pytest.param([("headrace-files/./a", b"x")], id="dot"),
        pytest.param([("headrace-files//a", b"x")], id="empty part"),
        pytest.param([("headrace-files/a\x01", b"x")], id="control character"),
        pytest.param([("headrace-files/" + "n" * 300, b"x")], id="long name"),
        pytest.param([("headrace-files/" + "n/" * 500 + "x", b"x")], id="deep"),
    ],
)
def test_an_archive_that_cannot_be_unpacked_is_refused_at_upload(running, entries):
    status, answer = running.client.upload("a.zip", archive(("__main__.py", NUMBERS.encode()), *entries))
    assert status == 400, answer
    assert running.client.get("/jars")["files"] == []


def test_an_archive_whose_content_is_damaged_leaves_no_job(running):
    """Names and sizes are fine, so the upload passes; the content shows only when it is read."""
    whole = archive(("__main__.py", NUMBERS.encode()), ("headrace-files/a", b"content-of-a" * 9))
    damaged = whole.replace(b"content-of-a", b"content-of-b", 1)
    status, answer = running.client.upload("a.zip", damaged)
    assert status == 200, answer
    name, job = answer["filename"].rpartition("/")[2], uuid.uuid4().hex
    status, answer = running.client.call("POST", f"/jars/{name}/run", {"jobId": job})
    assert status == 400 and "archive" in answer["errors"][0]
    assert not (running.folder / "jobs" / job).exists()
    assert running.client.call("DELETE", f"/jars/{name}") == (200, {})


def test_an_archive_that_grows_a_thousandfold_is_refused(running):
    bomb = archive(
        ("__main__.py", b"pass"),
        ("headrace-files/a", b"x"),
        *((f"m{i}.py", bytes(64 << 20)) for i in range(4)),
        kind=zipfile.ZIP_DEFLATED,
    )
    assert len(bomb) < 1_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status, answer = running.client.upload("a.zip", bomb)
    assert status == 400 and "unpack" in answer["errors"][0], answer
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # kilobytes


def test_an_archive_of_very_many_entries_is_refused(running):
    """Their table alone would take a gigabyte in memory."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for i in range(30_000):
            made.writestr(f"{i}", b"")
    assert len(out.getvalue()) < 3_000_000
    assert running.client.upload("a.zip", out.getvalue())[0] == 400


def test_a_client_that_never_finishes_its_headers_is_cut_off(running):
    address = ("127.0.0.1", urlsplit(running.url).port)
    for sent in (b"", b"GET /jobs HT", b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\n"):
        with socket.create_connection(address, timeout=20) as connection:
            connection.sendall(sent)
            started = time.monotonic()
            while connection.recv(4096):
                pass
            assert time.monotonic() - started < 15
    with socket.create_connection(address, timeout=20) as connection:  # one byte now and then does not help
        ended = threading.Event()

        def trickle() -> None:
            for byte in b"GET /jobs HTTP/1.1\r\nX: " + b"a" * 1000:
                if ended.wait(0.1):
                    return
                try:
                    connection.sendall(bytes([byte]))
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        started = time.monotonic()
        try:
            while connection.recv(4096):
                pass
        except ConnectionError:
            pass
        assert time.monotonic() - started < 15
        ended.set()
        thread.join()


def test_the_second_request_of_a_connection_may_not_hang_either(running):
    request = f"GET /config HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {running.token}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", urlsplit(running.url).port), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while not answer.endswith(b"}}"):
            answer += connection.recv(4096)
        time.sleep(1.5)  # longer than headers may take: a connection between requests is kept
        connection.sendall(request)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /")
        while connection.recv(4096):
            pass


FAILING = """
from headrace.datastream import StreamExecutionEnvironment

def fail(value):
    raise ValueError("could not connect with password=hunter2 to postgresql://me:hunter3@db/x as me:hunter4@db")

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).map(fail).print()
env.execute("fails")
"""


def test_failures_are_shown_without_secrets(running):
    job = running.client.run(FAILING, [], **{"restart-strategy.type": "none"})
    running.client.wait_for_status(job, "FAILED")
    for path in ("exceptions", "execution-result"):
        shown = json.dumps(wait_for(lambda path=path: running.client.get(f"/jobs/{job}/{path}")))
        assert "could not connect" in shown and "hunter" not in shown, path
    live = running.client.call("GET", "/events", headers={"Accept": "application/json"})[1]
    assert "could not connect" in json.dumps(live) and "hunter" not in json.dumps(live)
