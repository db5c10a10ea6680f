"""A real service, a real browser. Whatever a page does wrong on the side (errors, requests to elsewhere) fails its test."""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
import threading
import uuid
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "service"))

from service_kit import MARK, Service, end_marked

expect.set_options(timeout=15_000)
RUNNING: list[Service] = []
PICTURES = Path(__file__).parent.parent.parent / "artifacts" / "ui"


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium. Its driver has an event loop that runs in this thread: it must be gone when other tests want theirs."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program is not None, "Chromium is needed: scripts/setup --tests, or apt-get install chromium"
    with sync_playwright() as playwright:
        # Root in a container has no sandbox of its own to offer; the pages come from this machine only.
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def start_service():
    """Starts services whose jobs run on the local executor; at the end they and their jobs are killed."""
    mark = uuid.uuid4().hex
    started = []
    with tempfile.TemporaryDirectory(prefix="hs-ui-") as folder:
        environment = {MARK: mark, "HEADRACE_STATE_KEY_FILE": f"{folder}/state.key"}

        def start(**settings):
            directory = Path(folder) / uuid.uuid4().hex[:6]
            checkpoints = {
                "execution__checkpointing__interval": "1 s",
                "execution__checkpointing__savepoint_dir": f"file://{directory}/savepoints",
            }
            started.append(Service(directory, environment, **checkpoints, **settings))
            RUNNING.append(started[-1])
            return started[-1]

        yield start
        for service in started:
            RUNNING.remove(service)
            service.kill()
        end_marked(mark)


@pytest.fixture(scope="module")
def service(start_service):
    """The one service that most tests of a file share; its jobs would slow down all that comes after them."""
    return start_service().leading()


@pytest.fixture
def open_page(browser):
    """Opens pages; at the end none may have had an error, or asked another host for anything."""
    contexts, wrong = [], []

    def open_one(url, prepare=lambda page: None, signed_in=True, **settings):
        context = browser.new_context(
            **{"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", **settings}
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        own = urlsplit(url).netloc
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "console", lambda message: wrong.append(message.text) if "Content Security Policy" in message.text else None
        )
        page.on("request", lambda request: wrong.append(request.url) if urlsplit(request.url).netloc != own else None)
        prepare(page)
        asked = next((one for one in RUNNING if url.startswith(one.url)), None)
        if signed_in and asked is not None and asked.token is not None:
            page.goto(asked.link())
            expect(page.get_by_role("heading", name="Overview")).to_be_attached()
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def other_origin():
    """A page on another port of this machine, as another of its users could serve it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "index.html").write_text("<title>other</title>")
        handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        server.server_close()


@pytest.fixture
def artifacts():
    """The folder for what tests leave for people to look at."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES


@pytest.fixture
def picture(artifacts):
    """Keeps a picture of a page."""
    return lambda page, name: page.screenshot(path=artifacts / f"{name}.png")
