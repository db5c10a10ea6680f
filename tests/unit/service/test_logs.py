"""Which files of executors may be read: what they print, in their own folder, and nothing else."""

from __future__ import annotations

import pytest

from headrace.driver.executor import ExecutorView
from headrace.service.logs import ExecutorLogs


def executor(folder: str) -> ExecutorView:
    return ExecutorView("0", "127.0.0.1", 1, 1, folder=folder)


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work" / "app-20261116080000-0003" / "12"
    folder.mkdir(parents=True)
    for name in ("stdout", "stderr", "stderr--2026-11-16", "job.jar", "stdout.d"):
        (folder / name).write_text(name)
    (folder / "stderr.link").symlink_to("/etc/passwd")
    (folder / "stdout.folder").mkdir()
    (tmp_path / "stdout").write_text("outside")
    return tmp_path / "work"


def test_only_what_it_prints(work):
    found = ExecutorLogs(work).of(executor("app-20261116080000-0003/12"))
    assert sorted(found) == ["stderr", "stderr--2026-11-16", "stdout", "stdout.d"]
    assert found["stderr"].read_text() == "stderr"


@pytest.mark.parametrize(
    "folder",
    [
        "",
        "..",
        "../..",
        "app-20261116080000-0003/..",
        "app-20261116080000-0003/12/..",
        "/etc",
        "app-1-1/9",
        "app-1-1/9\n",
    ],
)
def test_nothing_outside_and_nothing_that_is_not_there(work, folder):
    assert ExecutorLogs(work).of(executor(folder)) == {}
    assert ExecutorLogs(None).of(executor("app-20261116080000-0003/12")) == {}
