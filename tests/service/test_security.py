"""Who may do what, and what bad requests come to: bad requests, paths, trust, over real HTTP.

The service runs in this process, so that the list of routes is the app's own.
"""

from __future__ import annotations

import http.client
import io
import json
import pickle
import random
import socket
import ssl
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from service_kit import Client, Dispatcher, heard_by_certificate, wait_for

from headrace.common.errors import ConfigurationError
from headrace.service.rest.routes import ENDPOINTS
from headrace.service.settings import read_settings
from headrace.service.tokens import TokenFile

ID = "0123456789abcdef" * 2
TRAVERSALS = [
    *("../", "..%2f", "%2e%2e%2f", "%252e%252e%252f", "..\\", "..%5c", "/", "%2f", "....//", "..;/", "%c0%ae%c0%ae/"),
    *("~/", "file:", "x%00/../", ""),
]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("security")
    (folder / "canary.txt").write_text("canary")
    made = Dispatcher(folder)
    yield made
    made.stop()


def filled(path: str) -> str:
    for name in ("jobid", "vertexid", "triggerid"):
        path = path.replace(f"{{{name}}}", ID)
    return path.replace("{jarid}", "x.py").replace("{", "").replace("}", "")


def test_every_mutating_route_needs_the_token(running):
    routes = running.mutating()
    assert len(routes) - 2 == 2 * sum(endpoint.mutates for endpoint in ENDPOINTS) > 20  # and two to sign in
    for token in (None, "", "wrong", running.token[:-1], running.token + "x"):
        client = Client(running.url, token)
        for method, path in routes:
            status, answer = client.call(method, filled(path), {})
            assert status == 401 and answer["errors"], (token, method, path)
    for method, path in routes:
        if "cluster" not in path and path != "/sign-in":
            assert running.client.call(method, filled(path), {})[0] not in (401, 403), (method, path)


def test_reading_needs_it_too(running):
    assert Client(running.url).call("GET", "/jobs")[0] == 401
    for scheme in ("Basic", "bearer2", ""):
        headers = {"Authorization": f"{scheme} {running.token}"}
        assert Client(running.url).call("GET", "/jobs", headers=headers)[0] == 401
    assert Client(running.url).call("GET", "/jobs", headers={"Authorization": f"bearer {running.token}"})[0] == 200


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 403),
        ("Host", "127.0.0.1.evil.example", 403),
        ("Host", "", 403),
        ("Host", "[bad", 403),
        ("Host", "flows.example:8081", 200),
        ("Host", "localhost:1", 200),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://127.0.0.1:1", 403),
        ("Sec-Fetch-Site", "cross-site", 200),
    ],
)
def test_foreign_hosts_and_origins(running, header, value, status):
    assert running.client.call("GET", "/jobs", headers={header: value})[0] == status
    changing = running.client.call("POST", "/savepoint-disposal", {"savepoint-path": "/no"}, {header: value})[0]
    assert changing == (403 if header == "Sec-Fetch-Site" else status)


def test_own_origin_may(running):
    assert running.client.call("GET", "/jobs", headers={"Origin": running.url})[0] == 200


def test_the_token_is_kept_as_a_hash(running):
    kept = (running.folder.parent / "token").read_text()
    assert running.token not in kept and kept.startswith("sha256:")
    assert (running.folder.parent / "token").stat().st_mode & 0o077 == 0


def test_no_service_for_others_without_a_token(tmp_path):
    command = [
        sys.executable,
        "-m",
        "headrace.service",
        "-Drest.bind-address=0.0.0.0",
        f"-Dheadrace.service.dir={tmp_path}",
    ]
    done = subprocess.run([*command, "-Drest.port=0"], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 1 and "needs a token" in done.stderr
    done = subprocess.run(
        [*command, f"-Dheadrace.service.token-file={tmp_path}/token", "--new-token"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert TokenFile(tmp_path / "token").accepts(done.stdout.strip())


def test_a_service_on_loopback_asks_for_its_token(start_service):
    """Also by default: every user of the machine can reach loopback."""
    service = start_service().leading()
    stranger = Client(service.url)
    plan = f"/jars/{service.program('import os')}/plan"
    for method, path in (
        ("GET", "/jobs"),
        ("POST", "/jars/upload"),
        ("GET", plan),
        ("DELETE", "/cluster"),
        ("GET", "/events"),
    ):
        assert stranger.call(method, path)[0] == 401, path
    assert stranger.call("GET", "/")[0] == 200, "the page itself holds nothing"
    note = service.directory / "tokens" / urlsplit(service.url).netloc
    assert note.read_text().strip() == service.token and note.stat().st_mode & 0o777 == 0o600
    assert note.parent.stat().st_mode & 0o777 == 0o700
    assert "requires a token" in service.log_text()
    assert service.token not in service.log_text() and "/#/sign-in/" not in service.log_text()
    assert service.end() == 0 and not note.exists()
    assert "requires a token" in service.process.stdout.read()


def test_the_opt_out_is_for_loopback_and_says_so(start_service, tmp_path):
    service = start_service(headrace__service__authentication="none").leading()
    assert service.token is None and service.call("GET", "/jobs")[0] == 200
    for header in ({"Origin": "http://127.0.0.1:1"}, {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}):
        assert service.call("POST", "/savepoint-disposal", {"savepoint-path": "/no"}, header)[0] == 403
        assert service.call("GET", "/jars/x.py/plan", headers=header)[0] == 403
    assert "WARNING" in service.log_text() and "does not require a token" in service.log_text()
    for wrong in (
        {"rest.bind-address": "0.0.0.0"},
        {"headrace.service.token-file": str(tmp_path / "token")},
    ):
        (tmp_path / "token").touch()
        with pytest.raises(ConfigurationError, match="requires a loopback address"):
            read_settings({"headrace.service.authentication": "none", **wrong})
    with pytest.raises(ConfigurationError, match="token or none"):
        read_settings({"headrace.service.authentication": "off"})


def test_only_clients_with_a_certificate_are_heard(tmp_path, start_service):
    service = heard_by_certificate(start_service, tmp_path)
    assert service.url.startswith("https://")
    address = urlsplit(service.url)
    context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    stranger = http.client.HTTPSConnection(address.netloc, context=context, timeout=10)
    with pytest.raises(OSError):
        stranger.request("GET", "/overview")
        stranger.getresponse()
    context.load_cert_chain(tmp_path / "client.pem", tmp_path / "client.key")

    def status() -> int:
        known = http.client.HTTPSConnection(address.netloc, context=context, timeout=10)
        known.request("GET", "/overview")
        return known.getresponse().status

    wait_for(lambda: status() == 200)


def test_paths_do_not_leave_their_folders(running):
    """Names in paths and uploads; a file outside is neither read nor written."""
    canary = running.folder.parent / "canary.txt"
    before = sorted(str(path) for path in running.folder.parent.rglob("*"))
    for start in TRAVERSALS:
        for depth in (1, 2, 4):
            name = f"{start * depth}canary.txt"
            for method, path in (
                *(("GET", "/jobmanager/logs/{}"), ("DELETE", "/jars/{}"), ("GET", "/jars/{}/plan")),
                *(("POST", "/jars/{}/run"), ("GET", "/jobs/{}"), ("GET", "/taskmanagers/{}"), ("GET", "/{}")),
                ("GET", "/assets/{}"),
            ):
                status, answer = running.client.call(method, path.format(name))
                assert 400 <= status < 500, (method, path, name, status)
                assert "canary\n" not in str(answer) and answer != "canary"
    for start in TRAVERSALS[:-1]:
        status, _ = running.client.upload(f"{start}x.py", b"pass")
        assert status == 400, start
    assert canary.read_text() == "canary"
    assert sorted(str(path) for path in running.folder.parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["x.sh", "x.py.exe", ".py", "x" * 300 + ".py", "x\n.py", "", "-rf.py"])
def test_names_of_uploads(running, name):
    assert running.client.upload(name, b"pass")[0] == 400


def test_archives(running):
    def archive(*names: str) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            for name in names:
                made.writestr(name, "x = 1")
        return out.getvalue()

    assert running.client.upload("a.zip", archive("../../evil.py"))[0] == 400
    assert running.client.upload("a.zip", archive("/etc/evil.py"))[0] == 400
    assert running.client.upload("a.zip", b"no archive")[0] == 400
    status, answer = running.client.upload("a.zip", archive("__main__.py"))
    assert status == 200
    name = answer["filename"].rpartition("/")[2]
    assert name in [entry["id"] for entry in running.client.get("/jars")["files"]]
    assert running.client.call("DELETE", f"/jars/{name}") == (200, {})
    assert running.client.call("DELETE", f"/jars/{name}")[0] == 400


def test_bodies_are_bounded(running):
    assert running.client.upload("big.py", b"#" * 200_000)[0] == 413
    assert running.client.call("POST", "/savepoint-disposal", b" " * 2_000_000)[0] == 413
    headers = {"Content-Length": "1000000000000"}
    with socket.create_connection(("127.0.0.1", urlsplit(running.url).port), timeout=10) as connection:
        lines = "".join(f"X-{i}: 1\r\n" for i in range(100_000))
        with pytest.raises(OSError):
            connection.sendall(f"GET /jobs HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
            while piece := connection.recv(65536):
                assert b" 200 " not in piece
            raise OSError("closed")
    assert running.client.call("POST", "/savepoint-disposal", b"{}", headers)[0] == 413


def test_nothing_is_unpickled(running, tmp_path):
    """A pickle as a body or as an uploaded program does not run."""
    target = tmp_path / "ran"

    class Canary:
        def __reduce__(self):
            return Path.touch, (target,)

    poison = pickle.dumps(Canary())
    for endpoint in ENDPOINTS:
        if endpoint.mutates and "cluster" not in endpoint.path:
            assert running.client.call(endpoint.method, filled(endpoint.path), poison)[0] < 500
    status, answer = running.client.upload("p.py", poison)
    name = answer["filename"].rpartition("/")[2]
    status, answer = running.client.call("GET", f"/jars/{name}/plan")
    assert status == 400 and answer["errors"] and not target.exists()


BODIES = [
    *(b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 10_000, b"NaN"),
    b'{"parallelism": -1}',
    b'{"parallelism": 1e400}',
    b'{"parallelism": "2"}',
    b'{"parallelism": true}',
    b'{"parallelism": 99999999999999999999}',
    b'{"programArgsList": [1]}',
    b'{"programArgsList": ["\\u0000"]}',
    b'{"programArgs": "\'"}',
    b'{"flinkConfiguration": {"headrace.epoch.traget-ms": "1"}}',
    b'{"flinkConfiguration": {"a": 1}}',
    b'{"flinkConfiguration": []}',
    b'{"jobId": "../x"}',
    b'{"claimMode": "MINE"}',
    b'{"savepoint-path": 5}',
    b'{"target-directory": {}}',
    b'{"cancel-job": "yes"}',
    b'{"formatType": "XML"}',
    b'{"unknown": 1}',
    b"",
]
QUERIES = [
    "",
    "?parallelism=x",
    "?parallelism=-5",
    "?parallelism=%00",
    "?get=" + "a," * 2000,
    "?agg=nope&get=a",
    "?maxExceptions=1e9",
    "?subtasks=9-a",
]


def test_bad_requests_never_make_an_error_of_the_server(running):
    """Each route with bad bodies, queries, names and verbs, chosen by a seed."""
    seed = random.randrange(2**32)
    choose = random.Random(seed)
    names = ["x", ID, "Z" * 32, "0" * 3000, "%00", "%ff", "é", "-1", "9" * 40, "1.5", "{}", "<script>", "' OR 1=1"]
    paths = [endpoint.path for endpoint in ENDPOINTS if "cluster" not in endpoint.path] + [
        "/events",
        "/nope",
        "/v2/jobs",
    ]
    started = time.monotonic()
    counted = 0
    while counted < 1500 and time.monotonic() - started < 6:
        path = choose.choice(paths)
        while "{" in path:
            before, _, rest = path.partition("{")
            path = before + choose.choice(names).replace("{", "%7B") + rest.partition("}")[2]
        if path.endswith("/events"):
            path = "/jobs/x/events"
        method = choose.choice(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "XYZ"])
        body = None if method in ("GET", "TRACE") else choose.choice(BODIES)
        target = quote(path + choose.choice(QUERIES), safe="/?=&,%-._~")
        status, answer = running.client.call(method, target, body)
        assert status < 500, (seed, method, target, body and body[:100], status, answer)
        assert status < 400 or isinstance(answer["errors"][0], str), (seed, method, target)
        counted += 1
    assert counted > 200
    assert running.client.get("/overview")["jobs-running"] == 0


def test_unknown_and_malformed_things(running):
    client = running.client
    for path, status in (
        (f"/jobs/{ID}", 404),
        ("/jobs/xyz", 400),
        (f"/jobs/{ID}/savepoints/{ID}", 404),
        (f"/savepoint-disposal/{ID}", 404),
        ("/savepoint-disposal/zz", 400),
        ("/taskmanagers/nope", 404),
        ("/jobmanager/logs/nope.log", 404),
        ("/jars/x.py/plan", 400),
        ("/nope", 404),
    ):
        seen, answer = client.call("GET", path)
        assert seen == status and isinstance(answer["errors"][0], str), path
    assert client.call("PUT", "/jobs")[0] == 404
    assert client.call("POST", "/jobs", {})[0] == 400
    assert client.call("POST", "/jars/upload", {})[0] == 400


def test_secrets_in_logs_are_masked(running):
    log = running.folder / "service.log"
    log.write_text("connecting with password=hunter2 and token: abc to jdbc://me:pw@host/db\n")
    text = client_text = running.client.call("GET", "/jobmanager/log")[1]
    assert "hunter2" not in text and "abc" not in client_text and ":pw@" not in text and "connecting" in text


def test_script_stays_text(running):
    """What a user names is never HTML: answers say what they are, and pages load nothing from elsewhere."""
    status, headers, _ = running.client.raw("GET", "/jobs/<script>alert(1)<".replace("<", "%3C"))
    assert status == 400 and headers["content-type"].startswith("application/json")
    assert headers["x-content-type-options"] == "nosniff"
    assert json.loads(running.client.raw("GET", "/jobs")[2]) == {"jobs": []}
