"""PySpark's daemon, which forks the Python workers of an executor, with its socket in a private folder.

Spark starts it as `python -m headrace.spark.daemon pyspark.worker` (`spark.python.daemon.module`). It makes the folder
on the executor's machine, as the executor's user; PySpark's own daemon would leave the socket to the umask.
"""

from __future__ import annotations

import os

from pyspark.daemon import manager

from headrace.spark.socket_folder import socket_folder_of_daemon

_FOLDER = "PYTHON_WORKER_FACTORY_SOCK_DIR"
"""Where PySpark's daemon makes its socket. Set by Spark where Unix sockets are on."""


def main() -> None:
    """Run PySpark's daemon until Spark ends it."""
    if _FOLDER not in os.environ:
        manager()
        return
    folder = socket_folder_of_daemon(os.environ[_FOLDER])
    os.environ[_FOLDER] = str(folder.path)
    try:
        manager()  # leaves by SystemExit; its workers by os._exit
    finally:
        folder.release()


if __name__ == "__main__":
    main()
