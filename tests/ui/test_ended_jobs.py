"""Jobs that failed, jobs with evil names, and a very large job: read from what the service keeps of ended jobs."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect
from programs import BROKEN, HOSTILE, HOSTILE_NAME

from headrace.runtime.job_view import JobView, SubtaskView, VertexView
from headrace.service.job_folder import End, JobFolder, Submission


@pytest.fixture(scope="module")
def failed(service):
    """The ids of two jobs that have failed."""
    jobs = [service.run(text, [], **{"restart-strategy.type": "none"}) for text in (BROKEN, HOSTILE)]
    for job in jobs:
        service.wait_for_status(job, "FAILED")
    return jobs


def test_a_failed_job_shows_the_users_traceback(service, failed, open_page, picture):
    page = open_page(f"{service.url}/#/jobs/{failed[0]}")
    glance = page.get_by_label("At a glance")
    expect(glance).to_contain_text("Failed")
    glance.get_by_role("link", name=re.compile("Failures")).click()
    own = page.locator("pre.user").first
    expect(own).to_contain_text("in price_of")
    expect(own).to_contain_text("return int(text)")
    expect(page.get_by_role("tabpanel")).to_contain_text("invalid literal for int() with base 10: '12,50'")
    picture(page, "exceptions")


def test_a_hostile_name_is_shown_as_text(service, failed, open_page):
    page = open_page(service.url)
    for place in ("", "/exceptions", "/timeline", "/configuration", "/logs"):
        page.goto(f"{service.url}/#/jobs/{failed[1]}{place}")
        expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE_NAME)
        expect(page.get_by_role("tabpanel").locator(":is(button, pre, td)").first).to_be_visible()
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, #app script").count() == 0


def test_a_hostile_name_is_shown_as_text_in_the_list_and_the_graph(service, failed, open_page):
    page = open_page(service.url)
    page.get_by_role("link", name=HOSTILE_NAME).click()
    vertex = page.locator("[data-vertex]", has_text="<img src=x").first
    expect(vertex).to_be_visible()
    vertex.click()
    expect(page.get_by_role("region", name="Vertex")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None


@pytest.fixture(scope="module")
def large(start_service):
    """A service that knows an ended job of 100 vertices with 200 subtasks each, as services keep such jobs."""
    ids = [f"{index:032x}" for index in range(1, 101)]
    inputs = [() if index < 5 else ((ids[index - 5], "HASH"), (ids[index - 3], "REBALANCE")) for index in range(100)]
    now = int(time.time() * 1000)
    load = {"busyTimeMsPerSecond": 400.0, "idleTimeMsPerSecond": 500.0, "backPressuredTimeMsPerSecond": 100.0}
    subtasks = tuple(
        SubtaskView(
            index,
            0,
            f"host-{index % 20}",
            index,
            "FINISHED",
            now - 60_000,
            now,
            {"numRecordsIn": 1000.0 * index, **load},
        )
        for index in range(200)
    )
    vertices = tuple(
        VertexView(ids[index], f"step {index}: map -> filter -> keyed process", 200, 256, inputs[index], subtasks, load)
        for index in range(100)
    )
    nodes = [
        {
            "id": ids[i],
            "parallelism": 200,
            "inputs": [{"num": n, "id": s, "ship_strategy": k} for n, (s, k) in enumerate(inputs[i])],
        }
        for i in range(100)
    ]
    checkpoints = {"counts": {"triggered": 0, "completed": 0, "failed": 0, "restored": 0}, "history": [], "notes": []}
    view = JobView(
        *(
            "c0ffee" + "0" * 26,
            "large job",
            "FINISHED",
            now - 60_000,
            now,
            {"RUNNING": now - 59_000, "FINISHED": now},
            256,
            200,
        ),
        *("STREAMING", vertices, (), checkpoints, {}, {}, {"jid": "c0ffee", "nodes": nodes}),
    )

    def prepare(directory):
        folder = JobFolder(directory / "jobs" / view.job_id)
        folder.path.mkdir(mode=0o700, parents=True)
        folder.write_view(view)
        folder.write_end(End("FINISHED", now))
        folder.write_submission(Submission(view.job_id, "large.py", (), None, now - 60_000))

    return start_service(prepare).leading(), view.job_id


def test_a_hundred_vertices_of_two_hundred_subtasks_stay_quick(large, open_page, picture):
    service, job = large
    start = time.monotonic()
    page = open_page(f"{service.url}/#/jobs/{job}")
    expect(page.locator("[data-vertex]")).to_have_count(100, timeout=20_000)
    assert time.monotonic() - start < 10
    picture(page, "large")
    table = page.get_by_role("group", name="Vertices")
    assert table.locator("tbody tr").count() < 60, "only the rows in sight are drawn"
    start = time.monotonic()
    table.get_by_role("link", name="step 3: map").click()
    subtasks = page.get_by_role("group", name="Subtasks")
    expect(subtasks.locator("tbody tr").first).to_contain_text("FINISHED")
    assert time.monotonic() - start < 5
    assert subtasks.locator("tbody tr").count() < 80
    subtasks.evaluate("one => (one.scrollTop = one.scrollHeight)")
    expect(subtasks.locator("tbody tr[aria-rowindex='201']")).to_contain_text("199")
