"""The Unix sockets between Spark and its Python processes: closed to other users under any umask, and gone at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import textwrap
import time
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
    import os, pathlib
    os.umask(int(os.environ["UMASK"], 8))
    from headrace.common import WatermarkStrategy
    from headrace.datastream import MapFunction, StreamExecutionEnvironment
    from headrace.testing import Record, event_source

    class Noting(MapFunction):
        def open(self, runtime_context):
            pathlib.Path(os.environ["JOURNAL"], "open").touch()
        def map(self, value):
            return value

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    events = event_source([Record(1)], [Record(2)], bounded=False)
    env.from_source(events, WatermarkStrategy.no_watermarks(), "s").key_by(lambda v: v).map(Noting()).print()
    env.execute("endless")
"""
CONNECT = "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ARGV[0])) or die $!' {}"


def listening(mark: str) -> dict[str, str]:
    """The paths of the Unix sockets that the marked processes have bound, each with the command of the process."""
    found = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("HEADRACE_TEST_RUN") == mark:
                for connection in process.net_connections("unix"):
                    path = str(connection.laddr)
                    if os.path.exists(path):  # Spark serves some results through a socket that it removes at once
                        found[path] = " ".join(process.cmdline())
    return found


@pytest.mark.parametrize("umask", ["0000", pytest.param("0002", marks=pytest.mark.long)])
def test_no_other_user_reaches_a_socket(start_script, tmp_path: Path, shared_folder: Path, other_user, umask: str):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    running = start_script(script, tmp_path, TMPDIR=str(shared_folder), JOURNAL=str(tmp_path), UMASK=umask)
    deadline = time.monotonic() + 120
    while not (tmp_path / "open").exists():
        assert running.process.poll() is None and time.monotonic() < deadline, running.finish(1).report()
        time.sleep(0.1)
    sockets = listening(running.mark)
    pyspark = [path for path in sockets if Path(path).name.startswith(".")]
    assert any("daemon" in sockets[path] for path in pyspark), sockets
    assert any("program.py" in sockets[path] for path in pyspark), "the accumulators of the driver"
    for path in sorted(sockets.keys() & listening(running.mark).keys()):
        assert stat.S_ISSOCK(os.stat(path).st_mode)
        folder = os.path.dirname(path)
        attempts = [CONNECT.format(path), f"ls {folder}", f"stat {path}", f"touch {folder}/new", f"rm -f {path}"]
        attempts += [f"mv {folder} {folder}.old", f"ln -sfn /tmp {folder} && test -L {folder}"]
        for attempt in attempts:
            assert other_user(attempt).returncode != 0, attempt
        assert stat.S_ISSOCK(os.stat(path).st_mode), "still there"
    running.process.send_signal(signal.SIGINT)
    running.finish(60)
    assert [path.name for path in shared_folder.iterdir()] == []
