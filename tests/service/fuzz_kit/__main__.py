"""`scripts/fuzz-rest`: a service in a folder of its own, hostile requests, a report; exit code 1 if there is a problem."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import uuid
from pathlib import Path

from service_kit import MARK, Service, end_marked

from fuzz_kit.run import fuzz


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="scripts/fuzz-rest", description="Hostile requests to every route of the service."
    )
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args()
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="headrace-fuzz-") as folder:
        (Path(folder) / "outside").mkdir()
        (Path(folder) / "outside" / "canary.txt").write_text("canary")
        try:
            environment = {MARK: mark, "HEADRACE_STATE_KEY_FILE": f"{folder}/state.key", "HOME": f"{folder}/outside"}
            service = Service(Path(folder) / "service", environment).leading()
            report = fuzz(service, Path(folder) / "outside", given.requests, given.seed)
            service.kill()
        finally:
            end_marked(mark)
    sys.stdout.write("\n".join([f"seed {given.seed}", *report.lines(), ""]))
    sys.exit(1 if report.problems else 0)


if __name__ == "__main__":
    main()
