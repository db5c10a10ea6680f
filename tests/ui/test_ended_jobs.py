"""Jobs that failed and jobs with evil names: read from what the service keeps of ended jobs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from programs import BROKEN, HOSTILE, HOSTILE_NAME


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


def test_a_record_that_fails_again_and_again_is_one_line(service, open_page):
    """The restarts of a job that meets the same record each time do not push other failures out of the history."""
    again = {"type": "fixed-delay", "fixed-delay.attempts": "20", "fixed-delay.delay": "1 ms"}
    job = service.run(BROKEN, [], **{f"restart-strategy.{key}": value for key, value in again.items()})
    service.wait_for_status(job, "FAILED")
    [entry] = service.get(f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"]
    assert entry["count"] == 21 and entry["first-timestamp"] <= entry["timestamp"] and "side output" in entry["advice"]
    page = open_page(f"{service.url}/#/jobs/{job}/exceptions")
    lines = page.get_by_role("navigation", name=re.compile("Exceptions")).get_by_role("button")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("21 times in a row")
    expect(page.get_by_role("tabpanel")).to_contain_text("send the record to a side output")
