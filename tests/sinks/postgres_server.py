"""A real PostgreSQL server for tests: in a temporary folder, on a unix socket, with no network port.

PostgreSQL refuses to run as root. There, it runs as the user that Debian's package makes for it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import psycopg

MISSING = "PostgreSQL's server is not installed: run scripts/setup --tests (Debian, Ubuntu: apt-get install postgresql)"


def find_program(name):
    """Its path; Debian keeps the server's programs off PATH. None if it is not installed."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return str(versions[-1]) if versions else shutil.which(name)


class PostgresServer:
    """Starts the server; `stop` ends it and removes its files."""

    def __init__(self):
        initdb, postgres = find_program("initdb"), find_program("postgres")
        if initdb is None or postgres is None:
            raise FileNotFoundError(MISSING)
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="headrace-pg-", dir=memory)
        self._user = {}
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self.directory, account.pw_uid, account.pw_gid)
            self._user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        data = f"{self.directory}/data"
        self._run([initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        self._log = open(f"{self.directory}/log", "w")
        self._command = [postgres, "-D", data, "-k", self.directory, "-c", "listen_addresses=", "-c", "fsync=off"]
        self._databases = 0
        self.resume()

    def resume(self):
        """Starts it, at first or again; waits until it answers."""
        self._process = subprocess.Popen(
            self._command,
            stdout=self._log,
            stderr=self._log,
            stdin=subprocess.DEVNULL,
            cwd=self.directory,
            **self._user,
        )
        self._wait()

    def pause(self):
        """Ends it at once, with all connections; its data stays."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)

    def _run(self, command):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=self.directory, check=False, **self._user
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stderr}")

    def _wait(self):
        for _ in range(300):
            try:
                psycopg.connect(self._uri("postgres")).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL did not start: {Path(self.directory, 'log').read_text()}")

    def _uri(self, database):
        return f"postgresql://tester@{quote(self.directory, safe='')}/{database}"

    def create_database(self):
        """A new database; gives its JDBC URL."""
        self._databases += 1
        name = f"test_{self._databases}"
        with psycopg.connect(self._uri("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return "jdbc:" + self._uri(name)

    def restart_connections(self):
        """Ends all connections of clients, as a server that fails over does."""
        with psycopg.connect(self._uri("postgres"), autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
