"""The committed files of the web UI are those that the committed sources give; `scripts/ui check` rebuilds them."""

from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[3]


def files_of(folder):
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "node_modules" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in found} - {"ui/built.sha256"}


def test_the_built_ui_is_not_stale():
    lines = (ROOT / "ui/built.sha256").read_text().splitlines()
    noted = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    found = {
        name: sha256((ROOT / name).read_bytes()).hexdigest()
        for name in files_of("ui") | files_of("src/headrace/service/ui")
    }
    changed = sorted(name for name in noted.keys() | found.keys() if noted.get(name) != found.get(name))
    assert changed == [], "run scripts/ui build and commit what it writes"
