"""A running job, from the graph to the savepoint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from programs import SHOP
from service_kit import wait_for


@pytest.fixture(scope="module")
def shop(service, tmp_path_factory):
    """The id of a running job, the file that makes it slow, the file it writes to."""
    folder = tmp_path_factory.mktemp("shop")
    slow, results = folder / "slow", folder / "results.txt"
    job = service.run(SHOP, [str(slow), str(results)])
    service.wait_for_status(job, "RUNNING")
    wait_for(results.exists)
    return job, slow, results


@pytest.fixture(scope="module")
def page_of(service):
    return lambda job, rest="": f"{service.url}/#/jobs/{job}{rest}"


def vertex(page, name):
    return page.get_by_role("button", name=re.compile(name)).and_(page.locator("[data-vertex]"))


def colour(node):
    return [
        int(part)
        for part in re.findall(r"\d+", node.locator(".head").evaluate("one => getComputedStyle(one).backgroundColor"))
    ]


def test_the_graph_shows_the_job_and_its_colours_follow_the_load(shop, page_of, open_page, picture):
    job, slow, _ = shop
    page = open_page(page_of(job))
    expect(page.get_by_role("heading", name="Orders of the shops")).to_be_visible()
    expect(page.locator("[data-vertex]")).to_have_count(3)
    counting = vertex(page, "count orders")
    expect(counting).to_have_attribute("data-load", "idle", timeout=20_000)
    expect(page.locator("text.flow").first).to_have_text(re.compile(r"^[\d.]+( k)?/s$"), timeout=20_000)
    page.wait_for_timeout(800)  # the colour moves slowly to its place
    red, _, blue = colour(counting)
    assert blue > red, "an idle vertex is blue"
    expect(page.get_by_label("At a glance")).to_contain_text("Running")
    picture(page, "idle")

    slow.touch()
    try:
        expect(counting).to_have_attribute("data-load", "busy", timeout=20_000)
        page.wait_for_timeout(800)
        red, _, blue = colour(counting)
        assert red > blue, "a busy vertex is red"
        glance = page.get_by_label("At a glance")
        expect(glance.get_by_role("link", name=re.compile("Bottleneck.*count orders"))).to_be_visible()
        picture(page, "busy")
    finally:
        slow.unlink()


def test_a_vertex_opens_with_all_its_tabs(shop, page_of, open_page, picture):
    page = open_page(page_of(shop[0]))
    counting = vertex(page, "count orders")
    counting.focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("region", name="Vertex count orders")
    rows = drawer.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("RUNNING")

    drawer.get_by_role("tab", name="Watermarks").click()
    expect(rows.first).to_contain_text(re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d\d\d"))
    drawer.get_by_role("tab", name="Back pressure").click()
    expect(rows.first).to_contain_text("OK")
    drawer.get_by_role("tab", name="Metrics").click()
    drawer.get_by_label("Find a metric").fill("numRecordsIn")
    drawer.get_by_label("numRecordsIn", exact=True).check()
    expect(drawer.get_by_role("img", name="numRecordsIn, the last minutes").locator("canvas")).to_be_visible()
    expect(drawer.get_by_role("heading", name=re.compile(r"^numRecordsIn [\d.]+( k)?$"))).to_be_visible()
    picture(page, "metrics")
    drawer.get_by_role("tab", name="Metrics").press("ArrowRight")
    expect(drawer.get_by_role("tab", name="Accumulators")).to_be_focused()
    expect(drawer).to_contain_text("no accumulator")
    drawer.get_by_role("tab", name="Flame graph").click()
    expect(drawer.get_by_role("button", name="Hold this one")).to_be_visible()

    page.locator("main").press("Escape")
    expect(drawer).to_have_count(0)


def test_checkpoints_appear_without_reload(service, shop, page_of, open_page, picture):
    page = open_page(page_of(shop[0], "/checkpoints"))
    table = page.get_by_role("group", name="Checkpoints")
    newest = table.locator("tbody tr").first
    expect(newest).to_contain_text("COMPLETED")
    before = int(newest.get_by_role("button").inner_text())
    wait_for(lambda: int(newest.get_by_role("button").inner_text()) > before)
    expect(page.get_by_role("img", name=re.compile("Duration and size")).locator("canvas")).to_be_visible()
    picture(page, "checkpoints")


def test_a_savepoint_from_the_button_restores(service, shop, page_of, open_page, tmp_path, picture):
    job, slow, _ = shop
    page = open_page(page_of(job))
    page.get_by_role("button", name="Savepoint", exact=True).click()
    page.get_by_role("button", name="Make savepoint").click()
    notice = page.get_by_role("status").filter(has_text="The savepoint is complete")
    expect(notice).to_be_visible(timeout=20_000)
    path = notice.locator("code").inner_text()
    assert (Path(path.removeprefix("file://")) / "_metadata").is_file()

    program, results = tmp_path / "again.py", tmp_path / "results.txt"
    program.write_text(SHOP)
    page.keyboard.press("s")
    page.locator("input[type=file]").set_input_files(program)
    expect(page.get_by_role("radio", name=re.compile("again.py"))).to_be_checked()
    page.get_by_label("Arguments").fill(f"'{slow}' '{results}'")
    page.get_by_label("Start from savepoint").fill(path)
    page.get_by_role("button", name="Show plan").click()
    expect(page.locator("[data-vertex]")).to_have_count(3, timeout=20_000)
    picture(page, "submit")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="Orders of the shops")).to_be_visible(timeout=20_000)
    page.get_by_role("tab", name="Checkpoints").click()
    expect(page.get_by_label("Summary").locator("div", has_text="Restored")).to_contain_text("1", timeout=20_000)
    wait_for(results.exists)
    first = wait_for(lambda: results.read_text().splitlines()[:1])[0]
    assert int(first.split()[1]) > 1, "the counts go on where the savepoint was made"

    page.get_by_role("button", name="Cancel job").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel job").click()
    expect(page.locator("h1 + .badge")).to_have_text("CANCELED", timeout=20_000)


def test_another_parallelism_from_the_page(service, shop, page_of, open_page):
    page = open_page(page_of(shop[0]))
    page.get_by_role("button", name="Rescale").click()
    page.get_by_role("spinbutton", name="Parallelism").fill("3")
    page.get_by_role("dialog").get_by_role("button", name="Rescale").click()
    expect(vertex(page, "count orders")).to_contain_text("3 subtasks", timeout=20_000)


def test_the_page_of_the_job_is_in_the_other_parts_too(service, shop, page_of, open_page):
    page = open_page(page_of(shop[0], "/timeline"))
    expect(page.get_by_role("img", name=re.compile("^RUNNING, ")).first).to_be_visible()
    page.keyboard.press("5")
    expect(page.get_by_role("group", name="Settings of the job")).to_contain_text("execution.checkpointing.interval")
    page.keyboard.press("6")
    expect(page.get_by_label("Log file")).to_have_value(f"job-{shop[0]}.log")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="Executors", exact=True)).to_be_visible()
    page.keyboard.press("o")
    expect(
        page.get_by_role("group", name="Running jobs").get_by_role("link", name="Orders of the shops").first
    ).to_be_visible()
