"""Where scripts/setup has put the jars that tests need."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"


def jar_directory(name: str) -> Path:
    """The folder with the jars of `requirements/NAME/pom.xml`."""
    named = os.environ.get(f"HEADRACE_{name.upper().replace('-', '_')}_JARS")
    found = Path(named) if named else cached(name)
    if not found.is_dir():
        raise RuntimeError(f"There are no jars in {found}: run scripts/setup --tests")
    return found


def cached(name: str) -> Path:
    """The folder in the user's cache, which all checkouts with the same pom share."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace"
    with (REQUIREMENTS / name / "pom.xml").open() as pom:
        sums = subprocess.run(["cksum"], stdin=pom, capture_output=True, text=True, check=True)
    return cache / f"{name}-{'-'.join(sums.stdout.split())}"
