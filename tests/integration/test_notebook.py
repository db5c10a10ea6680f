"""A job in the kernel of a notebook: the cell ends at once, a table follows the job."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.timeout(120)

START = """
import threading
from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment

def hold_up(value):
    if value == 3:
        import pathlib, time
        while not pathlib.Path("go").exists():
            time.sleep(0.05)
    return value

configuration = Configuration().set_string("headrace.executor", "local").set_string("headrace.epoch.first-records", "1")
env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
env.from_sequence(1, 5).map(hold_up).name("<held>").print()
job = env.execute_async("my <job>")
print("the cell has ended", job.get_job_status().result().name)
"""

END = """
import pathlib
pathlib.Path("go").touch()
job.get_job_execution_result().result()
for thread in threading.enumerate():
    if thread.name == "headrace-notebook":
        thread.join()
"""


def test_execute_async_shows_a_table_that_follows_the_job(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    cells = [nbformat.v4.new_code_cell(START), nbformat.v4.new_code_cell("1 + 1"), nbformat.v4.new_code_cell(END)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    updates = []

    class Watching(NotebookClient):
        def process_message(self, message, cell, cell_index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                updates.append((cell_index, message["content"]["data"]["text/html"]))
            return super().process_message(message, cell, cell_index)

    Watching(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(o.get("text", "") for o in notebook.cells[0].outputs if o["output_type"] == "stream")
    assert "the cell has ended RUNNING" in printed, "the job held on while the cell ended"
    assert notebook.cells[1].outputs[0]["data"]["text/plain"] == "2", "the kernel is free meanwhile"
    assert "my &lt;job&gt;" in updates[0][1] and "RUNNING" in updates[0][1]
    last = updates[-1][1]
    assert "FINISHED" in last and "5 records" in last and "&lt;held&gt;" in last and "<held>" not in last
    # One table below the first cell, brought up to date in place.
    tables = [o for cell in notebook.cells for o in cell.outputs if o["output_type"] == "display_data"]
    assert [o["data"]["text/html"] for o in tables] == [last]
