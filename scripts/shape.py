"""Print the shape of the source tree: packages, files, lines, and how the rooms depend on each other.

python scripts/shape.py [FOLDER]                     # another checkout's src/headrace, to compare with
python scripts/shape.py --without-tables [FOLDER]    # without the files that exist only for tables and SQL
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent.parent / "src" / "headrace"
TABLES = ("table/", "operators/table/", "graph/table_", "types/sql_map.py")


def imports(path: Path) -> set[str]:
    """Return the rooms of headrace that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("headrace."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "headrace":
            found.update(alias.name for alias in node.names)
    return found


def shape(root: Path, without: tuple[str, ...] = ()) -> dict[str, object]:
    """Return what is printed, by name, of the files whose paths do not start with one of `without`."""
    found = [path for path in sorted(root.rglob("*.py")) if not path.relative_to(root).as_posix().startswith(without)]
    files = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in found}
    modules = {path: lines for path, lines in files.items() if path.name != "__init__.py"}
    edges = {(path.relative_to(root).parts[0].removesuffix(".py"), room) for path in files for room in imports(path)}
    edges = {(source, target) for source, target in edges if source != target}
    fan_in = Counter(target for _, target in edges)
    largest = sorted(files.items(), key=lambda item: -item[1])[:3]
    return {
        "packages": sum(path.name == "__init__.py" for path in files),
        "files": len(files),
        "lines": sum(files.values()),
        "median lines of a module": int(statistics.median(modules.values())),
        "files over 400 lines": sum(lines > 400 for lines in files.values()),
        "largest files": ", ".join(f"{path.relative_to(root)} {lines}" for path, lines in largest),
        "modules below 60 lines": sum(lines < 60 for lines in modules.values()),
        "most modules in one folder": max(Counter(path.parent for path in modules).values()),
        "rooms": len({source for source, _ in edges} | {target for _, target in edges}),
        "dependencies between rooms": len(edges),
        "highest fan-in": ", ".join(f"{room} {count}" for room, count in fan_in.most_common(5)),
    }


if __name__ == "__main__":
    folders = [Path(argument) for argument in sys.argv[1:] if argument != "--without-tables"]
    left_out = TABLES if "--without-tables" in sys.argv else ()
    for name, value in shape(folders[0] if folders else HERE, left_out).items():
        print(f"{name:28} {value}")
