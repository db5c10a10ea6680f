"""A real RabbitMQ for tests: on loopback, free ports, its own Erlang port mapper, data in a folder that survives stop and start."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pika
from kafka_kit.broker import free_port

MISSING = "RabbitMQ is not installed: run scripts/setup --tests (Debian, Ubuntu: apt-get install rabbitmq-server)"
START_SECONDS = 90.0


def find_program() -> str | None:
    """Debian's command on PATH is a wrapper that changes the user; the server itself is beside it."""
    own = "/usr/lib/rabbitmq/bin/rabbitmq-server"
    return own if os.access(own, os.X_OK) else shutil.which("rabbitmq-server")


class RabbitServer:
    def __init__(self) -> None:
        program, mapper = find_program(), shutil.which("epmd")
        if program is None or mapper is None:
            raise FileNotFoundError(MISSING)
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="headrace-rabbitmq-")
        self._port, ports = free_port(), [free_port(), free_port()]
        self.uri = f"amqp://guest:guest@127.0.0.1:{self._port}/%2F"
        plugins = Path(self._folder, "plugins")
        plugins.write_text("[].\n")
        self._environment = {
            **os.environ,
            "HOME": self._folder,
            "ERL_EPMD_PORT": str(ports[0]),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"headrace{self._port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_DIST_PORT": str(ports[1]),
            "RABBITMQ_MNESIA_BASE": f"{self._folder}/data",
            "RABBITMQ_LOG_BASE": f"{self._folder}/log",
            "RABBITMQ_PID_FILE": f"{self._folder}/pid",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            "RABBITMQ_CONFIG_FILE": f"{self._folder}/none",
            "RABBITMQ_CONF_ENV_FILE": f"{self._folder}/none.conf",
        }
        self._log = open(f"{self._folder}/output", "ab")
        self._mapper = subprocess.Popen(
            [mapper, "-port", str(ports[0]), "-address", "127.0.0.1"], stdout=self._log, stderr=self._log
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> RabbitServer:
        self._process = subprocess.Popen(
            [self._program],
            env=self._environment,
            stdout=self._log,
            stderr=self._log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(pika.exceptions.AMQPError, OSError):
                self.connection().close()
                return self
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"RabbitMQ did not start: {Path(self._folder, 'output').read_text()[-3000:]}")
            time.sleep(0.1)

    def stop(self, kill: bool = False) -> None:
        """Stops it in good order, or kills it: a server that is killed may forget what was acknowledged."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL if kill else signal.SIGTERM)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None

    def remove(self) -> None:
        self.stop(kill=True)
        self._mapper.kill()
        self._mapper.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- messages -------------------------------------------------------------------------------------------------

    def connection(self) -> Any:
        return pika.BlockingConnection(pika.URLParameters(self.uri))

    def send(self, queue: str, numbers: range, ids: bool = True) -> None:
        with self.connection() as connection:
            channel = connection.channel()
            channel.queue_declare(queue, durable=True)
            channel.tx_select()
            for number in numbers:
                properties = pika.BasicProperties(delivery_mode=2, correlation_id=str(number) if ids else None)
                channel.basic_publish("", queue, str(number).encode(), properties)
            channel.tx_commit()

    def take_all(self, queue: str) -> list[int]:
        """All messages of a queue that nobody has, acknowledged."""
        found = []
        with self.connection() as connection:
            channel = connection.channel()
            channel.queue_declare(queue, durable=True)
            for method, _, body in channel.consume(queue, auto_ack=True, inactivity_timeout=0.3):
                if method is None:
                    break
                found.append(int(body))
        return found

    def waiting(self, queue: str) -> int:
        with self.connection() as connection:
            return int(connection.channel().queue_declare(queue, passive=True).method.message_count)
