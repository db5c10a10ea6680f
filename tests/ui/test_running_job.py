"""A running job, from the graph to the savepoint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from programs import SHOP
from service_kit import wait_for

LONGEST_MS = 60_000
"""What the job measures is seen after its next epochs, and these take long where other processes have the cores."""


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
    expect(counting).to_have_attribute("data-load", "idle", timeout=LONGEST_MS)
    expect(page.locator("text.flow").first).to_have_text(re.compile(r"^[\d.]+( k)?/s$"), timeout=20_000)
    page.wait_for_timeout(800)  # the colour moves slowly to its place
    red, _, blue = colour(counting)
    assert blue > red, "an idle vertex is blue"
    expect(page.get_by_label("At a glance")).to_contain_text("Running")
    picture(page, "idle")

    slow.touch()
    try:
        expect(counting).to_have_attribute("data-load", "busy", timeout=LONGEST_MS)
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
    plotted = drawer.get_by_role("heading", name=re.compile(r"^numRecordsIn [\d.]+( k)?$"))
    before = plotted.inner_text()
    wait_for(lambda: plotted.inner_text() != before)
    picture(page, "metrics")
    drawer.get_by_role("tab", name="Metrics").press("ArrowRight")
    expect(drawer.get_by_role("tab", name="Accumulators")).to_be_focused()
    expect(drawer).to_contain_text("no accumulator")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(counting).to_be_focused()


def test_a_flame_graph_shows_where_the_functions_spend_their_time(shop, page_of, open_page, picture):
    job, slow, _ = shop
    slow.touch()
    try:
        page = open_page(page_of(job))
        counting = vertex(page, "count orders")
        expect(counting).to_have_attribute("data-load", "busy", timeout=LONGEST_MS)  # what was before is kept a while
        counting.click()
        drawer = page.get_by_role("region", name="Vertex count orders")
        drawer.get_by_role("tab", name="Flame graph").click()
        frame = drawer.get_by_title(re.compile(r"process_element \(.*: \d\d+ %"))
        expect(frame.first).to_be_visible(timeout=LONGEST_MS)
        picture(page, "flame-graph")
        frame.first.click()
        expect(drawer.get_by_role("button", name="Go on")).to_be_visible()
        expect(drawer.get_by_role("group", name="Flame graph").get_by_role("button").first).to_contain_text("process")
        drawer.get_by_role("button", name="Whole graph").click()
        expect(drawer.get_by_role("button", name="root")).to_be_visible()
    finally:
        slow.unlink()


def test_checkpoints_appear_without_reload(service, shop, page_of, open_page, picture):
    page = open_page(page_of(shop[0], "/checkpoints"))
    table = page.get_by_role("group", name="Checkpoints")
    newest = table.locator("tbody tr").filter(has_text="COMPLETED").first  # above it one may be in progress
    expect(newest).to_be_visible()
    before = int(newest.get_by_role("button").inner_text())
    wait_for(lambda: int(newest.get_by_role("button").inner_text()) > before)
    expect(page.get_by_role("img", name=re.compile("Duration and size")).locator("canvas")).to_be_visible()
    newest.get_by_role("button").click()
    vertices = page.get_by_role("group", name="Vertices of the checkpoint")
    expect(vertices.locator("tbody tr")).to_have_count(3)
    vertices.get_by_role("button", name="count orders").click()
    subtasks = page.get_by_role("group", name="Subtasks of the checkpoint").locator("tbody tr")
    expect(subtasks).to_have_count(2)
    expect(subtasks.first).to_contain_text(re.compile(r"completed.*\d\d:\d\d:\d\d.* ms.* (Ki)?B", re.IGNORECASE))
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
    page.get_by_label("Parallelism").fill("1")
    page.get_by_label("Start from savepoint").fill(path)
    page.get_by_role("button", name="Show plan").click()
    expect(page.locator("[data-vertex]")).to_have_count(3, timeout=20_000)
    expect(page.locator("[data-vertex]", has_text="count orders")).to_contain_text("1 subtask")
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
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="Executors", exact=True)).to_be_visible()
    page.keyboard.press("o")
    expect(
        page.get_by_role("group", name="Running jobs").get_by_role("link", name="Orders of the shops").first
    ).to_be_visible()


def test_the_log_is_shown_and_can_be_downloaded(service, shop, page_of, open_page):
    page = open_page(page_of(shop[0]))
    page.keyboard.press("6")
    expect(page.get_by_label("Log file")).to_have_value(f"job-{shop[0]}.log")
    lines = page.get_by_role("region", name=re.compile("^Log job-"))
    expect(lines).to_contain_text("The counts are about to begin")
    page.keyboard.press("/")
    page.keyboard.type("about to begin")
    expect(lines.locator("span")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == f"job-{shop[0]}.log"
    whole = Path(download.value.path()).read_text()
    assert whole in service.raw("GET", f"/jobmanager/logs/job-{shop[0]}.log")[2].decode()
    assert "about to begin" in whole


def test_the_graph_lives_on_where_no_stream_comes_through(shop, page_of, open_page):
    """As behind a proxy that lets no event streams pass."""
    refused = []

    def through(route):
        streams = "event-stream" in route.request.headers.get("accept", "")
        refused.append(streams)
        route.fulfill(status=502) if streams else route.continue_()

    page = open_page(page_of(shop[0]), prepare=lambda page: page.route("**/events", through))
    counting = vertex(page, "count orders")
    expect(counting).to_have_attribute("data-load", re.compile("idle|busy"), timeout=20_000)
    rate = page.locator("text.flow").first
    expect(rate).to_have_text(re.compile(r"^[\d.]+( k)?/s$"))
    expect(page.get_by_label("At a glance")).to_contain_text(re.compile("Bottleneck *None"))
    before = page.get_by_role("group", name="Vertices").inner_text()
    wait_for(lambda: page.get_by_role("group", name="Vertices").inner_text() != before)
    assert set(refused) == {True, False}


def test_from_the_list_to_a_subtask_by_the_keyboard_alone(service, shop, open_page):
    page = open_page(service.url)
    expect(page.get_by_role("group", name="Running jobs").get_by_role("link").first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(shop[0])
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Orders of the shops":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Orders of the shops")).to_be_visible()
    expect(page.locator("[data-vertex]")).to_have_count(3)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.vertex !== undefined"):
            break
    expect(vertex(page, "Source: orders")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(vertex(page, "count orders")).to_be_focused()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("region", name="Vertex count orders")
    expect(drawer.locator("tbody tr").first).to_contain_text("RUNNING")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.role") == "tab" and drawer.locator(":focus").count():
            break
    page.keyboard.press("End")
    expect(drawer.get_by_role("tab", name="Flame graph")).to_be_focused()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(vertex(page, "count orders")).to_be_focused()
    page.keyboard.press("2")
    expect(page.get_by_role("tab", name="Checkpoints")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_stop_ends_the_job_with_a_savepoint(service, shop, page_of, open_page, tmp_path):
    page = open_page(page_of(shop[0]))
    page.get_by_role("button", name="Stop", exact=True).click()
    dialog = page.get_by_role("dialog", name="Stop with a savepoint")
    dialog.get_by_label("Directory").fill(f"file://{tmp_path}/last")
    dialog.get_by_label(re.compile("Drain")).check()
    dialog.get_by_role("button", name="Stop job").click()
    notice = page.get_by_role("status").filter(has_text="The job has stopped with a savepoint")
    expect(notice).to_be_visible(timeout=20_000)
    path = Path(notice.locator("code").inner_text().removeprefix("file://"))
    assert path.parent == tmp_path / "last"
    assert (path / "_metadata").is_file()
    expect(page.locator("h1 + .badge")).to_have_text("FINISHED", timeout=20_000)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    assert service.status(shop[0]) == "FINISHED"
