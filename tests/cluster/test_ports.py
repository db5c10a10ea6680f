"""`headrace cluster start` when something is in its way: it binds exactly, takes no other master for its own, leaves nothing."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from headrace.cli import spark_daemons
from headrace.cli.app import app
from headrace.cli.local_cluster import LocalCluster
from headrace.common.errors import ConfigurationError, JobExecutionError
from headrace.config.headrace_keys import service_directory
from headrace.service.settings import read_settings


@pytest.fixture
def listening():
    """A process of somebody else that has a port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def started_here(place: Path) -> list[str]:
    """The processes that were started for the cluster in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(place) in " ".join([*process.cmdline(), *process.environ().values()]) and process.pid != os.getpid():
                found.append(f"{process.pid} {process.name()}")
        except (psutil.Error, OSError):
            continue
    return found


def settings_for(place: Path, port: int) -> dict[str, str]:
    return {
        "headrace.cluster.dir": str(place),
        "headrace.cluster.master-port": str(port),
        "headrace.cluster.workers": "1",
        "rest.port": "0",
    }


def test_a_port_that_is_taken_is_refused_at_once(tmp_path, listening):
    place = tmp_path / "cluster"
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match=rf"Another process uses the port[\s\S]*:{listening}"):
        LocalCluster(settings_for(place, listening)).start()
    assert time.monotonic() - began < 5
    assert not (place / "cluster.json").exists()
    assert started_here(place) == []
    words = [word for key, value in settings_for(place, listening).items() for word in ("-D", f"{key}={value}")]
    answer = CliRunner().invoke(app, ["cluster", "start", *words])
    assert isinstance(answer.exception, ConfigurationError)


@pytest.mark.spark
def test_a_master_that_lost_its_port_is_not_mixed_up_with_another_one(tmp_path, listening, monkeypatch):
    """Somebody takes the port in the moment between the look and the start, and answers as a master would."""

    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self):
            body = {
                "status": "ALIVE",
                "url": f"spark://127.0.0.1:{listening}",
                "workers": [],
                "cores": 1,
                "coresused": 0,
            }
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *arguments):
            pass

    foreign = ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=foreign.serve_forever, daemon=True).start()
    place = tmp_path / "cluster"
    monkeypatch.setattr(spark_daemons, "_taken", lambda port: None)
    monkeypatch.setattr(spark_daemons, "_free_port", lambda: foreign.server_address[1])
    try:
        with pytest.raises(JobExecutionError, match="The master of the cluster did not start"):
            LocalCluster(settings_for(place, listening)).start()
    finally:
        foreign.shutdown()
        foreign.server_close()
    log = (place / "log" / "master.log").read_text()
    assert "BindException" in log and "Successfully started service 'sparkMaster'" not in log
    assert not (place / "cluster.json").exists()
    assert started_here(place) == []


@pytest.mark.spark
@pytest.mark.slow
def test_what_was_started_ends_if_the_rest_cannot_start(tmp_path, listening, monkeypatch):
    """Master and worker run, the service finds its port taken; and all of it keeps to the cluster's folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    place = tmp_path / "cluster"
    settings = {**settings_for(place, 0), "rest.port": str(listening)}
    with pytest.raises(JobExecutionError, match="The service of the cluster did not start"):
        LocalCluster(settings).start()
    assert "Registering worker" in (place / "log" / "master.log").read_text()
    assert not (place / "cluster.json").exists()
    deadline = time.monotonic() + 20
    while started_here(place) and time.monotonic() < deadline:  # a child of what was ended may take a moment
        time.sleep(0.1)
    assert started_here(place) == []
    assert (place / "service").is_dir()
    assert not (tmp_path / "home" / ".headrace").exists()


def test_the_service_keeps_to_the_folder_of_its_cluster(tmp_path):
    settings = {"headrace.cluster.dir": str(tmp_path)}
    assert read_settings(settings).directory == service_directory(settings) == tmp_path / "service"
    both = {**settings, "headrace.service.dir": str(tmp_path / "own")}
    assert read_settings(both).directory == service_directory(both) == tmp_path / "own"
