"""Who may look, how it is read without a mouse or with other eyes, and what the built files may do."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from programs import BROKEN, SHOP
from service_kit import wait_for


@pytest.fixture(scope="module")
def jobs(service, tmp_path_factory):
    """A running job and a failed one."""
    results = tmp_path_factory.mktemp("axe") / "results.txt"
    running, failed = (
        service.run(SHOP, ["/nonexistent", str(results)]),
        service.run(BROKEN, [], **{"restart-strategy.type": "none"}),
    )
    service.wait_for_status(failed, "FAILED")
    service.wait_for_status(running, "RUNNING")
    wait_for(results.exists)
    wait_for(lambda: service.completed_checkpoints(running) > 2)
    return running, failed


AXE = "async ([part, options]) => (await axe.run(part ?? document, options)).violations"
JOB_TABS = ("graph", "checkpoints", "exceptions", "timeline", "configuration", "logs")
VERTEX_TABS = ("subtasks", "watermarks", "backpressure", "metrics", "accumulators", "flamegraph")


def test_axe_finds_nothing_on_any_page_or_tab_in_light_and_dark(service, jobs, open_page, picture):
    running, failed = jobs
    vertex = service.get(f"/jobs/{running}")["vertices"][1]["id"]
    executor = service.get("/taskmanagers")["taskmanagers"][0]["id"]
    places = ["", "submit", "executors", f"executors/{executor}", "service", "no/such/page"]
    places.append(f"jobs/{failed}/exceptions")
    places += [f"jobs/{running}", *(f"jobs/{running}/{tab}" for tab in JOB_TABS)]
    places += [f"jobs/{running}/graph/{vertex}/{tab}" for tab in VERTEX_TABS]
    page = open_page(service.url)
    page.evaluate(Axe().axe_script)  # once: going from page to page loads nothing again
    wrong = {}
    for place in places:
        # What is around a tab is the same for all of them.
        part = (
            "#vertex-part" if place.count("/") == 4 else "#job-part" if place.startswith(f"jobs/{running}/") else None
        )
        page.goto(f"{service.url}/#/{place}")
        page.wait_for_timeout(50)
        expect(page.locator(part or "main")).to_be_visible()
        expect(page.get_by_text(re.compile("^Loading"))).to_have_count(0)
        name = re.sub("[0-9a-f]{32}", "x", place).replace("/", "-") or "overview"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            # What does not depend on colours needs one look only.
            options = {"resultTypes": ["violations"], **({} if scheme == "light" else {"runOnly": ["color-contrast"]})}
            found = page.evaluate(AXE, [part, options])
            picture(page, f"{scheme}-{name}")
            if found:
                wrong[scheme, place] = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]
    assert wrong == {}


def test_dialogs_pass_axe_and_give_the_focus_back(service, jobs, open_page):
    page = open_page(f"{service.url}/#/jobs/{jobs[0]}")
    button = page.get_by_role("button", name="Savepoint", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Make a savepoint")).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()


def test_a_service_with_a_token_asks_for_it(start_service, open_page, tmp_path):
    from headrace.service.tokens import TokenFile

    token = TokenFile(tmp_path / "token")
    secret = token.renew()
    guarded = start_service(headrace__service__token_file=str(tmp_path / "token"))
    page = open_page(guarded.url)
    assert guarded.token is None, "the hash alone opens nothing"
    prompt = page.get_by_role("dialog", name="This service asks for a token")
    prompt.get_by_label("Token").fill("guessed")
    page.keyboard.press("Enter")
    expect(prompt).to_contain_text("did not accept")
    prompt.get_by_label("Token").fill(secret)
    page.keyboard.press("Enter")
    expect(page.get_by_text("No job is running.")).to_be_visible()
    expect(prompt).to_have_count(0)


def test_a_link_signs_a_browser_in_once(start_service, open_page):
    """No token is typed in: the link has a code in its fragment, which the page exchanges and takes out of the address."""
    guarded = start_service().leading()
    link = guarded.link()
    page = open_page(link, signed_in=False)
    expect(page.get_by_text("No job is running.")).to_be_visible()
    assert page.url == f"{guarded.url}/#/" and page.context.cookies() == []
    page.reload()
    expect(page.get_by_text("No job is running.")).to_be_visible()
    other = page.context.new_page()  # the browser is signed in, not only the tab
    other.goto(f"{guarded.url}/#/submit")
    expect(other.get_by_role("heading", name="Submit", exact=False).first).to_be_visible()
    kept = page.evaluate("localStorage.getItem('headrace.token')")
    assert kept and kept != guarded.token and kept not in link

    again = open_page(link, signed_in=False)
    prompt = again.get_by_role("dialog", name="This service asks for a token")
    expect(prompt).to_contain_text("has been used already")
    expect(prompt).to_contain_text("headrace ui")
    assert Axe().run(again).response["violations"] == []
    stranger = open_page(guarded.url, signed_in=False)
    expect(stranger.get_by_role("dialog", name="This service asks for a token")).to_be_visible()


def test_a_page_of_another_port_cannot_use_the_signed_in_browser(start_service, open_page, other_origin):
    guarded = start_service().leading()
    page = open_page(guarded.url)
    stranger = page.context.new_page()
    stranger.goto(other_origin)
    for script in (
        "url => fetch(url + '/jobs/overview', {credentials: 'include'}).then(() => 'read', () => 'refused')",
        "url => fetch(url + '/jobs', {method: 'POST', body: '{}', credentials: 'include', mode: 'no-cors'})"
        ".then(answer => answer.type === 'opaque' ? 'refused' : 'read', () => 'refused')",
    ):
        assert stranger.evaluate(script, guarded.url) == "refused"
    assert stranger.evaluate("localStorage.getItem('headrace.token')") is None


def test_the_built_page_holds_no_inline_code_and_names_no_other_host():
    root = Path(str(files("headrace.service"))) / "ui"
    page = (root / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", page) == []
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sources and all((root / source).is_file() for source in sources)
    styles = "".join(path.read_text() for path in root.rglob("*.css"))
    assert not re.search(r"url\(\s*['\"]?(https?:|//|data:)|@import", styles)
