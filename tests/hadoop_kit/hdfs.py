"""A real HDFS: one name node and one data node, which serve WebHDFS too."""

from __future__ import annotations

from types import TracebackType

from hadoop_kit.daemons import Daemons, free_ports, read_json


class Hdfs(Daemons):
    """An HDFS on free ports of loopback. `stop` and `start` again keep its data and the ports of its name node."""

    def __init__(self) -> None:
        super().__init__("hdfs")
        self.port, self.http_port = free_ports(2)
        self.address = f"hdfs://127.0.0.1:{self.port}"
        self.web_address = f"webhdfs://127.0.0.1:{self.http_port}"
        """The address for fsspec: what `webhdfs://` paths begin with."""
        self.write_settings("core-site.xml", {"fs.defaultFS": self.address, "hadoop.tmp.dir": self.home / "data"})
        self.write_settings(
            "hdfs-site.xml",
            {
                "dfs.replication": 1,
                "dfs.permissions.enabled": "false",
                "dfs.namenode.http-address": f"127.0.0.1:{self.http_port}",
                "dfs.namenode.safemode.extension": 0,
                "dfs.namenode.datanode.registration.ip-hostname-check": "false",
                "dfs.datanode.hostname": "127.0.0.1",
                "dfs.datanode.address": "127.0.0.1:0",
                "dfs.datanode.http.address": "127.0.0.1:0",
                "dfs.datanode.ipc.address": "127.0.0.1:0",
                "dfs.datanode.du.reserved": 0,
                "dfs.heartbeat.interval": 1,
            },
        )

    def start(self) -> Hdfs:
        """Start both daemons and wait until files can be written."""
        if not (self.home / "data").exists():
            self.run("format", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
        self.start_daemon("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode")
        self.start_daemon("datanode", "org.apache.hadoop.hdfs.server.datanode.DataNode")
        self.wait_until(self._ready, "HDFS")
        return self

    def _ready(self) -> bool:
        query = "jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        state = read_json(f"http://127.0.0.1:{self.http_port}/{query}")["beans"][0]
        return bool(state["FSState"] == "Operational" and state["NumLiveDataNodes"] >= 1)

    def stop(self, kill: bool = False) -> None:
        """End both daemons, or kill them; the data stay."""
        self.stop_all(kill)

    def __enter__(self) -> Hdfs:
        try:
            return self.start()
        except BaseException:
            self.remove()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()
