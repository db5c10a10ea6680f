"""A real MariaDB server for tests: in a temporary folder, on a unix socket, with no network port.

MariaDB does not run as root unless it is told to. There, it runs as the user that Debian's package makes for it.
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

import pymysql

MISSING = (
    "MariaDB's server is not installed: run scripts/setup --tests (Debian, Ubuntu: apt-get install mariadb-server)"
)
SETTINGS = (
    "--skip-networking",
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=16M",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--skip-log-bin",
)


def find_program(name):
    """Its path; Debian keeps the server off the PATH of ordinary users."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")


class MariaServer:
    """Starts the server; `stop` ends it and removes its files."""

    def __init__(self):
        install, server = find_program("mariadb-install-db"), find_program("mariadbd")
        if install is None or server is None:
            raise FileNotFoundError(MISSING)
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="headrace-my-", dir=memory)
        self._user = {}
        if os.geteuid() == 0:
            account = pwd.getpwnam("mysql")
            os.chown(self.directory, account.pw_uid, account.pw_gid)
            self._user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        data, self.socket = f"{self.directory}/data", f"{self.directory}/sock"
        where = ["--no-defaults", f"--datadir={data}", f"--tmpdir={self.directory}"]
        self._run(
            [install, *where, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
        )
        self._log = open(f"{self.directory}/log", "w")
        self._command = [server, *where, f"--socket={self.socket}", f"--pid-file={self.directory}/pid", *SETTINGS]
        self._databases = 0
        self.resume()
        self.ask("CREATE USER tester@localhost IDENTIFIED BY 'sécret ✓'", "GRANT ALL ON *.* TO tester@localhost")

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
        for _ in range(600):
            try:
                self.ask("SELECT 1")
                return
            except pymysql.err.OperationalError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError(f"MariaDB did not start: {Path(self.directory, 'log').read_text()}")

    def pause(self):
        """Ends it at once, with all connections; its data stays."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)

    def _run(self, command):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, cwd=self.directory, check=False, **self._user
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stdout} {done.stderr}")

    def ask(self, *statements, database=None):
        """Runs statements as root; gives the rows of the last."""
        connection = pymysql.connect(user="root", unix_socket=self.socket, database=database, autocommit=True)
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return cursor.fetchall()
        finally:
            connection.close()

    def create_database(self, scheme="mariadb"):
        """A new database; gives its JDBC URL."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.ask(f"CREATE DATABASE {name}")
        return f"jdbc:{scheme}://tester:s%C3%A9cret%20%E2%9C%93@localhost/{name}?localSocket={self.socket}"

    def restart_connections(self):
        """Ends all connections of clients, as a server that fails over does."""
        for (number,) in self.ask("SELECT id FROM information_schema.processlist WHERE user = 'tester'"):
            try:
                self.ask(f"KILL {number}")
            except pymysql.err.OperationalError:  # it has ended itself
                pass

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
