"""Keys that name files of a program and the Python that runs them, and how those paths change when the files move.

Read by the environment and, for the zip that carries a program to a job service, by the command line (which writes it)
and the service (which unpacks it).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headrace.config.config_options import ConfigOptions

_key = ConfigOptions.key

CACHED_FILES = _key("pipeline.cached-files").list_type().default_value([])
PYTHON_FILES = _key("python.files").string_type().default_value("")
PYTHON_REQUIREMENTS = _key("python.requirements").string_type().no_default_value()
PYTHON_ARCHIVES = _key("python.archives").string_type().default_value("")
PYTHON_EXECUTABLE = _key("python.executable").string_type().no_default_value()

BUNDLED = "headrace-files/"
"""The directory of the zip for files that are not modules. They are stored uncompressed, so the size of the upload is
the limit for their size, too."""
MODULES_KEY = PYTHON_FILES.key
FILE_KEYS = (PYTHON_REQUIREMENTS.key, PYTHON_ARCHIVES.key)


def moved_settings(
    settings: Mapping[str, str], place: Callable[[str], str], keys: tuple[str, ...] = FILE_KEYS
) -> dict[str, str]:
    """Return the settings with each path of these keys replaced by `place(path)`; the part after its `#` stays.

    >>> moved_settings({"python.archives": "/a/v.zip#venv,/b/m.zip", "x": "1"}, lambda path: "/new" + path)
    {'python.archives': '/new/a/v.zip#venv,/new/b/m.zip', 'x': '1'}
    """
    moved = dict(settings)
    for key in keys:
        separator = "#" if key == PYTHON_REQUIREMENTS.key else ","
        entries = []
        for entry in filter(None, settings.get(key, "").split(separator)):
            path, mark, target = entry.partition("#")
            entries.append(place(path) + mark + target)
        if entries:
            moved[key] = separator.join(entries)
    return moved
