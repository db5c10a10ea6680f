"""Running services for the tests of a module; a process that outlives them is noticed."""

from __future__ import annotations

import sys
import tempfile
import uuid
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from service_kit import MARK, Service, end_marked


@pytest.fixture(scope="module")
def start_service():
    """Starts services; at the end all of them and all of their jobs are killed."""
    mark = uuid.uuid4().hex
    started = []
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:
        environment = {MARK: mark, "HEADRACE_STATE_KEY_FILE": f"{folder}/state.key"}

        def start(directory=None, **settings):
            where = Path(folder) / uuid.uuid4().hex[:6] if directory is None else directory
            started.append(Service(where, environment, **settings))
            return started[-1]

        yield start
        for service in started:
            service.kill()
        end_marked(mark)


@pytest.fixture(scope="module")
def service(start_service):
    """A service whose jobs run on the local executor."""
    return start_service().leading()
