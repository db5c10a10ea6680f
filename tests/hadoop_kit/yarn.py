"""A real YARN: one resource manager and one or more node managers, which run containers as processes of this machine."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from hadoop_kit.daemons import MARK, Daemons, free_ports, read_json

_CAPACITY = "yarn.scheduler.capacity"


class Yarn(Daemons):
    """A YARN on free ports of loopback. Its default file system is `default_fs`, the local one if none is given."""

    def __init__(self, nodes: int = 1, default_fs: str = "file:///", node_memory_mb: int = 4096) -> None:
        super().__init__("yarn")
        self._nodes = nodes
        client, scheduler, tracker, admin, self.web_port = free_ports(5)
        self.write_settings("core-site.xml", {"fs.defaultFS": default_fs, "hadoop.tmp.dir": self.home / "data"})
        self.write_settings(
            "capacity-scheduler.xml",
            {
                f"{_CAPACITY}.root.queues": "default",
                f"{_CAPACITY}.root.default.capacity": 100,
                f"{_CAPACITY}.maximum-am-resource-percent": 0.9,
            },
        )
        self._settings: dict[str, object] = {
            "yarn.resourcemanager.hostname": "127.0.0.1",
            "yarn.resourcemanager.bind-host": "127.0.0.1",
            "yarn.resourcemanager.address": f"127.0.0.1:{client}",
            "yarn.resourcemanager.scheduler.address": f"127.0.0.1:{scheduler}",
            "yarn.resourcemanager.resource-tracker.address": f"127.0.0.1:{tracker}",
            "yarn.resourcemanager.admin.address": f"127.0.0.1:{admin}",
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{self.web_port}",
            "yarn.nodemanager.hostname": "127.0.0.1",
            "yarn.nodemanager.bind-host": "127.0.0.1",
            "yarn.nodemanager.resource.memory-mb": node_memory_mb,
            "yarn.nodemanager.resource.cpu-vcores": 8,
            "yarn.scheduler.minimum-allocation-mb": 128,
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            "yarn.nodemanager.delete.debug-delay-sec": 600,  # a failed test shows the logs of containers
            "yarn.nodemanager.env-whitelist": f"JAVA_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,{MARK}",
        }
        self.write_settings("yarn-site.xml", self._settings)

    def start(self) -> Yarn:
        """Start all daemons and wait until the nodes have joined."""
        self.start_daemon("resourcemanager", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
        for number in range(self._nodes):
            self.start_daemon(
                f"nodemanager-{number}",
                "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
                self._node_conf(number),
            )
        self.wait_until(lambda: len(self._nodes_running()) == self._nodes, "YARN")
        return self

    def _node_conf(self, number: int) -> Path:
        folder = self.home / f"node-{number}"
        own = {
            "yarn.nodemanager.address": "127.0.0.1:0",
            "yarn.nodemanager.localizer.address": "127.0.0.1:0",
            "yarn.nodemanager.collector-service.address": "127.0.0.1:0",
            "yarn.nodemanager.webapp.address": "127.0.0.1:0",
            "yarn.nodemanager.local-dirs": folder / "local",
            "yarn.nodemanager.log-dirs": folder / "containers",
        }
        self.write_settings("yarn-site.xml", {**self._settings, **own}, folder)
        return folder

    def _nodes_running(self) -> list[Any]:
        found = read_json(f"http://127.0.0.1:{self.web_port}/ws/v1/cluster/nodes?states=RUNNING")["nodes"]
        return list(found["node"]) if found else []

    def applications(self) -> list[dict[str, Any]]:
        """Return what the resource manager says of all applications so far."""
        found = read_json(f"http://127.0.0.1:{self.web_port}/ws/v1/cluster/apps")["apps"]
        return list(found["app"]) if found else []

    def container_logs(self, characters: int = 4000) -> str:
        """Return the ends of what containers wrote, for the message of a failed test."""
        found = sorted(path for path in self.home.glob("node-*/containers/*/*/std*") if path.stat().st_size)
        return "\n".join(
            f"--- {path.parent.name}/{path.name}\n{path.read_text(errors='replace')[-characters:]}" for path in found
        )

    def __enter__(self) -> Yarn:
        try:
            return self.start()
        except BaseException:
            self.remove()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()
