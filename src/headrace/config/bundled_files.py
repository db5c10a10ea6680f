"""Settings that name files of a program, and where such files lie in the zip that travels to a job service.

Shared by the command line, which makes such a zip, and by the service, which unpacks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["BUNDLED", "FILE_KEYS", "MODULES_KEY", "moved_settings"]

BUNDLED = "headrace-files/"
"""The directory of the zip with what is no module. Nothing in it is compressed, so that it is no larger than what was sent."""
MODULES_KEY = "python.files"
FILE_KEYS = ("python.requirements", "python.archives")


def moved_settings(
    settings: Mapping[str, str], place: Callable[[str], str], keys: tuple[str, ...] = FILE_KEYS
) -> dict[str, str]:
    """Give settings in which each path of these keys is what `place` makes of it; what follows its `#` stays.

    >>> moved_settings({"python.archives": "/a/v.zip#venv,/b/m.zip", "x": "1"}, lambda path: "/new" + path)
    {'python.archives': '/new/a/v.zip#venv,/new/b/m.zip', 'x': '1'}
    """
    moved = dict(settings)
    for key in keys:
        separator = "#" if key == "python.requirements" else ","
        entries = []
        for entry in filter(None, settings.get(key, "").split(separator)):
            path, mark, target = entry.partition("#")
            entries.append(place(path) + mark + target)
        if entries:
            moved[key] = separator.join(entries)
    return moved
