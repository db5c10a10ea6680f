"""Several dispatchers with a real ZooKeeper: the server of Debian's package `zookeeper`."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

import pytest
from service_kit import ENDLESS, NUMBERS, wait_for

from headrace.spark.java import java_command

JAR = Path("/usr/share/java/zookeeper.jar")
"""Names the jars that it needs in its manifest. `scripts/setup --tests` installs the package."""


class ZooKeeper:
    """A server on loopback."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        settings = ["tickTime=1000", f"dataDir={folder}/data", f"clientPort={self.port}", "admin.enableServer=false"]
        (folder / "zoo.cfg").write_text("\n".join([*settings, "clientPortAddress=127.0.0.1", ""]))
        self.start()

    def start(self) -> None:
        assert JAR.is_file(), "ZooKeeper is not installed: apt-get install zookeeper"
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        options = ["-Xmx128m", "-XX:+UseSerialGC"]
        self.process = subprocess.Popen(
            [java_command() or "java", *options, "-cp", str(JAR), main, "zoo.cfg"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(listens)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory):
    server = ZooKeeper(tmp_path_factory.mktemp("zookeeper"))
    yield server
    server.stop()


def test_the_next_one_leads_and_a_leader_without_zookeeper_ends(zookeeper, start_service):
    settings = {
        "high-availability.type": "zookeeper",
        "high-availability.zookeeper.quorum": f"127.0.0.1:{zookeeper.port}",
    }
    leader = start_service(**settings).leading()
    job = leader.run(NUMBERS, ENDLESS)
    leader.wait_for_status(job, "RUNNING")
    standby = start_service(leader.directory, **settings)
    status, headers, _ = standby.raw("GET", f"/jobs/{job}")
    assert (status, headers["location"]) == (307, f"{leader.url}/jobs/{job}")
    master = leader.master(job)
    assert leader.end() == 0, "a leader that is asked to end lets go at once"
    started = time.monotonic()
    standby.leading()
    assert time.monotonic() - started < 5
    standby.wait_for_status(job, "RUNNING")
    assert standby.master(job) == master
    zookeeper.stop()
    assert standby.process.wait(20) == 3, "nobody leads who cannot know it"
    assert leader.master(job) == master, "the job goes on"
