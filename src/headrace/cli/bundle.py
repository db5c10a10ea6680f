"""Pack a program and its files into the zip file that is uploaded to a service.

Decides the layout. Modules (`-pyfs`) are placed as on an import path: `.py` files and packages under their names, other
directories and zip files with their contents. The program is a module beside them. Files that only the functions need
(`-pyreq`, `-pyarch`) are below a separate directory, which the service unpacks; the settings name them there.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from headrace.config.job_file_keys import BUNDLED, FILE_KEYS, MODULES_KEY, moved_settings
from headrace.errors import ConfigurationError


def module_of(program: Path) -> str:
    """Return the module name of a program in its bundle.

    >>> module_of(Path("jobs/word-count.py"))
    'word_count'
    """
    return re.sub(r"\W", "_", program.stem)


def needs_bundle(settings: Mapping[str, str]) -> bool:
    """Return whether a program needs other files.

    >>> needs_bundle({"python.requirements": "requirements.txt"}), needs_bundle({"python.executable": "python3"})
    (True, False)
    """
    return any(settings.get(key) for key in (MODULES_KEY, *FILE_KEYS))


def make_bundle(program: Path, settings: Mapping[str, str], target: Path) -> dict[str, str]:
    """Write the zip file of a program and its files, and return the settings with the paths inside it."""
    modules = [Path(path) for path in settings.get(MODULES_KEY, "").split(",") if path]
    places: dict[str, Path] = {}

    def place(path: str) -> str:
        name = f"{BUNDLED}{len(places)}/{Path(path).name}"
        places[name] = Path(path)
        return name

    moved = moved_settings(settings, place)
    moved.pop(MODULES_KEY, None)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        written: set[str] = set()
        for name, content in _modules(program, modules):
            if name not in written:  # an import finds the first of two modules with the same name
                written.add(name)
                bundle.writestr(name, content)
        for name, path in places.items():
            _add(bundle, name, path)
    return moved


def _modules(program: Path, paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    yield f"{module_of(program)}.py", program.read_bytes()
    for path in paths:
        if path.is_dir():
            base = path.parent if (path / "__init__.py").exists() else path
            for file in _files_of(path):
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


def _add(bundle: zipfile.ZipFile, name: str, path: Path) -> None:
    """Store a file or folder without compression: archives and wheels are compressed already."""
    if path.is_file():
        bundle.write(path, name, zipfile.ZIP_STORED)
    elif path.is_dir():
        bundle.writestr(f"{name}/", b"", zipfile.ZIP_STORED)
        for file in _files_of(path):
            bundle.write(file, f"{name}/{file.relative_to(path).as_posix()}", zipfile.ZIP_STORED)
    else:
        raise ConfigurationError("-pyreq or -pyarch names a file that does not exist", seen=str(path))


def _files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
