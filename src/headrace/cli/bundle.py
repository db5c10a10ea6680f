"""One zip file of a program and the modules that it brings along (`-pyfs`): what is uploaded to a service.

Decides how they lie in it: `.py` files by their name, a package under its own name, other directories and zip files with
what is in them, as on a path for imports. The program is a module beside them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from headrace.common.errors import ConfigurationError

__all__ = ["make_bundle", "module_of"]


def module_of(program: Path) -> str:
    """Give the name under which a program stands in its bundle.

    >>> module_of(Path("jobs/word-count.py"))
    'word_count'
    """
    return re.sub(r"\W", "_", program.stem)


def make_bundle(program: Path, python_files: str, target: Path) -> None:
    """Write the zip file of a program and of paths with commas between."""
    written: set[str] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in _members(program, [Path(path) for path in python_files.split(",") if path]):
            if name not in written:  # the first of two modules of one name is the one that an import finds
                written.add(name)
                bundle.writestr(name, content)


def _members(program: Path, paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    yield f"{module_of(program)}.py", program.read_bytes()
    for path in paths:
        if path.is_dir():
            base = path.parent if (path / "__init__.py").exists() else path
            for file in sorted(path.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    yield file.relative_to(base).as_posix(), file.read_bytes()
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir():
                        yield entry.filename, archive.read(entry)
        elif path.is_file():
            yield path.name, path.read_bytes()
        else:
            raise ConfigurationError("-pyfs names a file that does not exist", seen=str(path))
