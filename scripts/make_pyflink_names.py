"""Write tests/data/pyflink_names.json: which names each module of PyFlink exposes, its own and those it imports.

Run by hand when a new version of PyFlink is out. PyFlink is read, not imported: unpack its wheels, each into a folder of
its own, and name these, the newest first:

    pip download --no-deps -d /tmp/flink-2.3.0 apache-flink==2.3.0 && unzip -d /tmp/flink-2.3.0 /tmp/flink-2.3.0/*.whl
    python scripts/make_pyflink_names.py 2.3.0=/tmp/flink-2.3.0 1.20.3=/tmp/flink-1.20.3
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parent.parent / "tests" / "data" / "pyflink_names.json"
# What no program imports from: other APIs, what runs inside of PyFlink's own processes, its tools and its tests.
LEFT_OUT = (
    "bin", "dataset", "examples", "find_flink_home", "fn_execution", "gen_protos", "loopback_worker", "ml",
    "pyflink_callback_server", "pyflink_gateway_server", "shell", "table", "testing", "tests",
)  # fmt: skip
OWN = ""


def bound_names(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Each name that a module's top level binds, and the module that it is imported from."""
    for node in body:
        match node:
            case ast.FunctionDef(name="_install"):
                yield from installed_names(node)
            case ast.ClassDef() | ast.FunctionDef():
                yield node.name, OWN
            case ast.ImportFrom(module=str(module), level=0):
                yield from ((alias.asname or alias.name, module) for alias in node.names)
            case ast.Import():
                yield from ((alias.asname, alias.name) if alias.asname else (alias.name, "") for alias in node.names)
            case ast.Assign():
                yield from ((target.id, OWN) for target in node.targets if isinstance(target, ast.Name))
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case ast.If() | ast.Try():
                yield from bound_names([*node.body, *node.orelse])


def installed_names(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """What a module puts into its package when it is loaded, for programs of older versions."""
    homes: dict[str, str] = {}
    for node in function.body:
        match node:
            case ast.ImportFrom(module=str(module)):
                homes |= {alias.name: module for alias in node.names}
            case ast.Expr(ast.Call(ast.Name("setattr"), [_, ast.Constant(value), ast.Attribute(ast.Name(submodule))])):
                yield str(value), f"{homes[submodule]}.{submodule}"
            case ast.Expr(ast.Call(ast.Name("setattr"), [_, ast.Constant(value), ast.Name(name)])):
                yield str(value), homes[name]


def modules_of(folder: Path) -> dict[str, dict[str, str]]:
    """All names of all modules of one version."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((folder / "pyflink").rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if len(parts) > 1 and not set(parts) & set(LEFT_OUT):
            names = dict(bound_names(ast.parse(path.read_text(encoding="utf-8")).body))
            found[".".join(parts)] = {n: home for n, home in names.items() if not n.startswith("_") and "." not in n}
    return found


def main() -> None:
    """Merge the versions, the newest first."""
    versions, modules = [], {}
    for argument in sys.argv[1:]:
        version, _, folder = argument.partition("=")
        versions.append(version)
        for module, names in modules_of(Path(folder)).items():
            known = modules.setdefault(module, {})
            known |= {name: home for name, home in names.items() if name not in known}
    lines = [
        f'    "{module}": {json.dumps(dict(sorted(names.items())))}'
        for module, names in sorted(modules.items())
        if names
    ]
    text = f'{{\n  "versions": {json.dumps(versions)},\n  "modules": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
