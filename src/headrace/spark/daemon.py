"""Run PySpark's daemon, which forks the Python workers of an executor, with its socket in a private folder.

Spark starts it as `python -m headrace.spark.daemon pyspark.worker` (`spark.python.daemon.module`). It creates the folder on
the executor's machine, as the executor's user. With PySpark's own daemon, only the umask would protect the socket.
"""

from __future__ import annotations

import os

from pyspark.daemon import manager

from headrace.spark.socket_folder import socket_folder_of_daemon

_FOLDER = "PYTHON_WORKER_FACTORY_SOCK_DIR"
"""Where PySpark's daemon creates its socket. Spark sets it if Unix sockets are enabled."""


def main() -> None:
    """Run PySpark's daemon until Spark ends it."""
    if _FOLDER not in os.environ:
        manager()
        return
    folder = socket_folder_of_daemon(os.environ[_FOLDER])
    os.environ[_FOLDER] = str(folder.path)
    try:
        manager()  # ends with SystemExit; its workers end with os._exit
    finally:
        folder.release()


if __name__ == "__main__":
    main()
