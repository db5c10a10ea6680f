"""An S3 API on loopback: moto's server in a process of its own, which keeps objects in its memory.

`environment` is what programs need in their environment to find it; tests/conftest.py has it as the fixture `s3`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from types import TracebackType

START_SECONDS = 90.0


class S3Server:
    """A server on a free port. It can be stopped for a while (`pause`): nobody gets an answer then."""

    def __init__(self) -> None:
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> S3Server:
        """Start the server and wait until it answers."""
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env={**os.environ}
        )
        deadline = time.monotonic() + START_SECONDS
        while True:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("The S3 server did not start")
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}/moto-api/", timeout=5):
                return self
            time.sleep(0.1)

    def bucket(self) -> str:
        """Make a bucket; return its address."""
        name = f"b{uuid.uuid4().hex}"
        request = urllib.request.Request(f"{self.address}/{name}", method="PUT")
        with urllib.request.urlopen(request, timeout=30):
            return f"s3://{name}"

    def pause(self) -> None:
        """Stop answering, without closing connections."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the server; all objects are gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> S3Server:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
