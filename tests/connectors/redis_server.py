"""A real Redis for tests: on loopback, a free port, with its data in a temporary folder that survives stop and start."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time

import redis
from kafka_kit.broker import free_port

MISSING = "Redis is not installed: run scripts/setup --tests (Debian, Ubuntu: apt-get install redis-server)"


class RedisServer:
    def __init__(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise FileNotFoundError(MISSING)
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="headrace-redis-")
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> RedisServer:
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--dir", self._folder, "--save", ""]
        self._process = subprocess.Popen(
            [self._program, *options, "--appendonly", "yes", "--appendfsync", "always"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                self.client().ping()
                return self
            except redis.exceptions.ConnectionError:
                assert self._process.poll() is None, "redis-server has ended"
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, decode_responses=True)

    def stop(self, kill: bool = False) -> None:
        if self._process is not None:
            self._process.kill() if kill else self._process.terminate()
            self._process.wait(30)
            self._process = None

    def remove(self) -> None:
        self.stop(kill=True)
        shutil.rmtree(self._folder, ignore_errors=True)
