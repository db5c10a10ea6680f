"""The client's HTTP, against a server that answers as it is told."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headrace.cli.errors import NotFoundError, ServiceError, ServiceUnreachableError
from headrace.cli.rest_client import RestClient
from headrace.cli.service_client import ServiceClient, find_service
from headrace.common.errors import ConfigurationError


class Server:
    """Answers (status, body, headers) by (method, path); keeps what it was asked."""

    def __init__(self):
        self.answers, self.asked = {}, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.asked.append((self.command, self.path, dict(self.headers), body))
                status, content, headers = outer.answers[self.command, self.path]
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                text = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def on(self, method, path, content, status=200, **headers):
        self.answers[method, path] = (status, content, headers)


@pytest.fixture
def server():
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_requests_carry_json_and_the_token(server, monkeypatch):
    monkeypatch.setenv("HEADRACE_TOKEN", "secret")
    server.on("POST", "/x", {"ok": 1})
    assert RestClient(server.url).post("x", {"a": 1}) == {"ok": 1}
    _, _, headers, body = server.asked[0]
    assert (headers["Authorization"], json.loads(body)) == ("Bearer secret", {"a": 1})


def test_a_standby_sends_to_the_leader_also_what_changes_something(server):
    server.on("PATCH", "/jobs/1", b"", 307, Location="/leader/jobs/1")
    server.on("PATCH", "/leader/jobs/1", b"", 202)
    assert RestClient(server.url).patch("jobs/1", {"b": 2}) == {}
    assert [(asked[0], asked[1], asked[3]) for asked in server.asked][1] == ("PATCH", "/leader/jobs/1", b'{"b": 2}')
    server.on("GET", "/round", b"", 307, Location="/round")
    with pytest.raises(ServiceError, match="in circles"):
        RestClient(server.url).get("round")
    server.on("GET", "/away", b"", 307, Location="file:///etc/passwd")
    with pytest.raises(ServiceError, match="HTTP 307"):
        RestClient(server.url).get("away")


def test_refusals_are_told_in_the_words_of_the_service(server):
    server.on("GET", "/a", {"errors": ["Job 5 not found", "stack trace"]}, 404)
    with pytest.raises(NotFoundError, match="Job 5 not found"):
        RestClient(server.url).get("a")
    server.on("GET", "/b", {"errors": ["who are you?"]}, 401)
    with pytest.raises(ServiceError, match="HEADRACE_TOKEN"):
        RestClient(server.url).get("b")
    server.on("GET", "/c", b"<html>a proxy</html>", 502)
    with pytest.raises(ServiceError, match="a proxy"):
        RestClient(server.url).get("c")
    server.on("GET", "/d", b"<html>")
    with pytest.raises(ServiceError, match="not JSON"):
        RestClient(server.url).get("d")


def test_nobody_there_and_no_address():
    with pytest.raises(ServiceUnreachableError):
        RestClient("127.0.0.1:1").get("jobs")
    for address in ("ftp://host", "http://", "file:///etc"):
        with pytest.raises(ConfigurationError):
            RestClient(address)


def test_uploads_are_forms(server, tmp_path):
    (tmp_path / "job.py").write_bytes(b"print(1)\n")
    server.on("POST", "/jars/upload", {"filename": "/store/7_job.py"})
    server.on("POST", "/jars/7_job.py/run", {"jobid": "abc"})
    server.on("DELETE", "/jars/7_job.py", {})
    assert ServiceClient(RestClient(server.url)).submit(tmp_path / "job.py", "job.py", {"parallelism": 2}) == "abc"
    upload = server.asked[0]
    assert upload[2]["Content-Type"].startswith("multipart/form-data; boundary=")
    assert b'name="jarfile"; filename="job.py"' in upload[3] and b"\r\n\r\nprint(1)\n\r\n--" in upload[3]
    assert [asked[0] for asked in server.asked] == ["POST", "POST", "DELETE"]


def test_jobs_are_meant_by_the_beginning_of_their_id_or_by_name(server):
    jobs = [
        {"jid": "abcd" + "0" * 28, "name": "count", "state": "RUNNING", "start-time": 2},
        {"jid": "abce" + "0" * 28, "name": "other", "state": "FINISHED", "start-time": 3},
        {"jid": "ffff" + "0" * 28, "name": "count", "state": "FAILED", "start-time": 1},
    ]
    server.on("GET", "/jobs/overview", {"jobs": jobs})
    service = ServiceClient(RestClient(server.url))
    assert [job["jid"][:4] for job in service.jobs()] == ["abcd", "abce", "ffff"]
    assert service.resolve("abcd") == service.resolve("count") == jobs[0]["jid"]
    assert service.resolve("ffff" + "1" * 28) == "ffff" + "1" * 28, "a whole id is taken as it is"
    for unknown in ("abc", "other", "nobody"):
        with pytest.raises(NotFoundError, match="headrace list"):
            service.resolve(unknown)


def test_why_a_savepoint_failed_is_told(server):
    server.on("POST", "/jobs/j/savepoints", {"request-id": "r"})
    failed = {"status": {"id": "COMPLETED"}, "operation": {"failure-cause": {"class": "X", "stack-trace": "no disk"}}}
    server.on("GET", "/jobs/j/savepoints/r", failed)
    with pytest.raises(ServiceError, match="no disk"):
        ServiceClient(RestClient(server.url)).savepoint("j", "/x")


def test_which_service_is_meant(tmp_path):
    settings = {"headrace.service.dir": str(tmp_path), "rest.port": "9"}
    assert find_service(None, settings).rest.url == "http://127.0.0.1:9/"
    (tmp_path / "service.json").write_text('{"pid": 1, "url": "http://127.0.0.1:77"}')
    assert find_service(None, settings).rest.url == "http://127.0.0.1:77/"
    assert find_service(None, {**settings, "rest.address": "far"}).rest.url == "http://far:9/"
    assert find_service("near:5", {**settings, "rest.address": "far"}).rest.url == "http://near:5/"
