"""docs/errors.md and the error classes of the package name the same codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import headrace

PACKAGE = Path(headrace.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "errors.md"
WITHOUT_CLASS = {"USAGE"}
"""Only in the output of the command line."""


def codes_of_classes() -> dict[str, list[str]]:
    """Return the names of the classes that define each code. Read the source, so that no module can be forgotten."""
    found: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for code in code_of(node):
                found.setdefault(code, []).append(node.name)
    return found


def code_of(node: ast.AST) -> list[str]:
    """Return the value of `code = "..."` in a class of an error."""
    if not (isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Exception"))):
        return []
    values = [
        statement.value
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and ast.unparse(statement.targets[0] if isinstance(statement, ast.Assign) else statement.target) == "code"
    ]
    return [value.value for value in values if isinstance(value, ast.Constant)]


def entries() -> dict[str, list[str]]:
    """Return the rows of the page's tables of codes: class, what happened, cause and fix."""
    rows = [line.strip("|").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    found = [(re.fullmatch(r"\s*`([A-Z_]+)`", cells[0]), cells[1:]) for cells in rows]
    return {match[1]: cells for match, cells in found if match is not None}


def test_every_code_has_its_entry():
    listed = entries()
    for code, classes in codes_of_classes().items():
        if code == "HEADRACE":
            continue
        assert code in listed, f"docs/errors.md has no entry for {code} ({', '.join(classes)})"
        named, happened, fix = listed[code]
        assert all(f"`{name}`" in named for name in classes), code
        assert len(happened.strip()) > 10, code
        assert len(fix.strip()) > 10, code


def test_every_entry_is_a_code():
    assert entries().keys() - WITHOUT_CLASS <= codes_of_classes().keys()


def test_a_code_belongs_to_one_class():
    """`NOT_FOUND` has two: the service raises one as a 404, the command line raises the other when it gets the 404."""
    assert {code: names for code, names in codes_of_classes().items() if len(names) > 1} == {
        "NOT_FOUND": ["NotFoundError", "NotFoundError"]
    }
