"""A running job of 100 vertices with 200 subtasks each: a made-up view of one, served as programs serve their own jobs."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from headrace.common.job_status import JobStatus
from headrace.monitoring.job_view import BottleneckView, JobView, SubtaskView, VertexView
from headrace.service.embedded import EmbeddedService
from headrace.service.settings import read_settings

VERTICES, SUBTASKS = 100, 200


class Work:
    """Measures the processor seconds of the page's main thread, which do not depend on what else the machine does."""

    def __init__(self, page):
        self._devtools = page.context.new_cdp_session(page)
        self._devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._before = 0.0

    def since_last(self):
        """Return the seconds since the last call."""
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        now = next(each["value"] for each in metrics if each["name"] == "TaskDuration")
        spent, self._before = now - self._before, now
        return spent


def large_view():
    ids = [f"{index:032x}" for index in range(1, VERTICES + 1)]
    inputs = [() if i < 5 else ((ids[i - 5], "HASH"), (ids[i - 3], "REBALANCE")) for i in range(VERTICES)]
    now = int(time.time() * 1000)
    load = {"busyTimeMsPerSecond": 400.0, "idleTimeMsPerSecond": 500.0, "backPressuredTimeMsPerSecond": 100.0}
    more = {f"{operator}.{name}": 1.0 for operator in ("map", "filter", "keyed process") for name in load}
    subtasks = tuple(
        SubtaskView(i, 0, f"host-{i % 20}", i, "RUNNING", now, -1, {"numRecordsIn": 1000.0 * i, **load, **more})
        for i in range(SUBTASKS)
    )
    names = [f"step {index}: map -> filter -> keyed process" for index in range(VERTICES)]
    vertices = tuple(
        VertexView(ids[i], names[i], SUBTASKS, 256, inputs[i], subtasks, {"numRecordsInPerSecond": 5.0, **load, **more})
        for i in range(VERTICES)
    )
    nodes = [
        {
            "id": ids[i],
            "parallelism": SUBTASKS,
            "inputs": [{"num": n, "id": s, "ship_strategy": k} for n, (s, k) in enumerate(inputs[i])],
        }
        for i in range(VERTICES)
    ]
    counts = {"triggered": 0, "completed": 0, "failed": 0, "restored": 0}
    return JobView(
        *("c0ffee" + "0" * 26, "large job", "RUNNING", now, -1, {"RUNNING": now}, 256, SUBTASKS, "STREAMING"),
        *(vertices, (), {"counts": counts, "history": [], "notes": []}, {}, {}, {"jid": "c0ffee", "nodes": nodes}),
        BottleneckView(ids[40], None, "user function", "make it faster"),
    )


class LargeJob:
    """What a service asks of a job master: here a view in which records go on being counted."""

    def __init__(self):
        self._view = large_view()
        self.job_id = self._view.job_id
        self._began = time.monotonic()

    def view(self):
        rate = {"numRecordsOutPerSecond": 1000.0 + int(time.monotonic() - self._began)}
        vertices = tuple(replace(v, metrics={**v.metrics, **rate}) for v in self._view.vertices)
        return replace(self._view, vertices=vertices)

    def status(self):
        return JobStatus.RUNNING

    def executors(self):
        return []


@pytest.fixture(scope="module")
def large():
    """The address of the job's page."""
    service = EmbeddedService(read_settings({"rest.port": "0", "headrace.service.authentication": "none"}))
    job = LargeJob()
    service.started(job)
    return f"{service.address}/#/jobs/{job.job_id}"


def test_a_hundred_vertices_of_two_hundred_subtasks_stay_quick(large, open_page, picture, artifacts):
    pages = []
    page = open_page(large, prepare=lambda page: pages.append(Work(page)))
    [work] = pages
    expect(page.locator("[data-vertex]")).to_have_count(VERTICES, timeout=60_000)
    seconds = {"first graph": work.since_last()}
    assert seconds["first graph"] < 3
    picture(page, "large")
    rows = page.get_by_role("group", name="Vertices").locator("tbody tr")
    assert rows.count() < 60, "only the rows in sight are drawn"
    expect(rows.first).to_contain_text(re.compile(r"1\d\d\d/s"))

    work.since_last()
    seen = {rows.first.inner_text()}
    start = time.monotonic()
    while len(seen) < 4 and time.monotonic() - start < 60:
        seen.add(rows.first.inner_text())
        page.wait_for_timeout(100)
    assert len(seen) >= 4, "the page goes on being updated"
    seconds["three updates"] = work.since_last()
    assert seconds["three updates"] < 3

    page.get_by_role("link", name="step 3: map").click()
    subtasks = page.get_by_role("group", name="Subtasks")
    expect(subtasks.locator("tbody tr").first).to_contain_text("RUNNING")
    seconds["open a vertex"] = work.since_last()
    assert seconds["open a vertex"] < 2
    assert subtasks.locator("tbody tr").count() < 80
    subtasks.evaluate("one => (one.scrollTop = one.scrollHeight)")
    expect(subtasks.locator("tbody tr[aria-rowindex='201']")).to_contain_text("199")
    page.get_by_role("tab", name="Timeline").click()
    expect(page.get_by_role("button", name=re.compile("step 99"))).to_be_attached()
    seconds["timeline"] = work.since_last()
    (artifacts / "large.json").write_text(json.dumps(seconds))
