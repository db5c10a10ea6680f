"""Load the settings from outside the program: the configuration file, environment variables, the launcher.

Later sources override earlier ones:

1. `headrace.yaml` in the directory HEADRACE_CONF_DIR, else in `conf` of the working directory
2. the environment variable HEADRACE_PROPERTIES, in the same format as the file
3. the JSON file HEADRACE_CONFIGURATION_FILE, with which a launcher (`headrace run`, the service) passes on `-D` and all else
4. the settings of the program itself, which are not handled here

Keys may be flat (`parallelism.default: 4`) or nested. Values are strings, which each option parses according to its
type. Used by environments, the command line and the service.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headrace.config.known_keys import check_options
from headrace.config.option_values import value_text
from headrace.errors import ConfigurationError

FILE_NAME = "headrace.yaml"
CONF_DIR_VARIABLE = "HEADRACE_CONF_DIR"
PROPERTIES_VARIABLE = "HEADRACE_PROPERTIES"
CONFIGURATION_FILE_VARIABLE = "HEADRACE_CONFIGURATION_FILE"
_MAPS = ("pipeline.global-job-parameters",)
"""Options whose value is itself a map: entries nested below them are not longer keys."""


def load_configuration(
    directory: str | os.PathLike[str] | None = None, overrides: Mapping[str, str] | None = None
) -> dict[str, str]:
    r"""Return all settings from outside the program, as strings by key; `overrides` (`-D`) override the others.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "headrace.yaml").write_text("execution:\n  checkpointing.interval: 10 s\n")
    ...     load_configuration(folder, {"parallelism.default": "4"})
    {'execution.checkpointing.interval': '10 s', 'parallelism.default': '4'}
    """
    settings: dict[str, str] = {}
    for source, values in _sources(directory):
        check_options(values, source)
        settings.update(values)
    if overrides:
        check_options(overrides, "-D")
        settings.update(overrides)
    return settings


def configuration_file(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the expected path of the configuration file, which need not exist.

    >>> str(configuration_file("/etc/headrace"))
    '/etc/headrace/headrace.yaml'
    """
    return Path(directory or os.environ.get(CONF_DIR_VARIABLE) or "conf") / FILE_NAME


def _sources(directory: str | os.PathLike[str] | None) -> Iterator[tuple[str, dict[str, str]]]:
    path = configuration_file(directory)
    if path.is_file():
        yield str(path), parse_properties(_read(path), str(path))
    elif directory is not None or os.environ.get(CONF_DIR_VARIABLE):
        raise ConfigurationError(
            "The configuration directory has no configuration file",
            seen=str(path),
            remedy=f"create the file (it may be empty), or unset {CONF_DIR_VARIABLE}",
        )
    text = os.environ.get(PROPERTIES_VARIABLE)
    if text:
        yield PROPERTIES_VARIABLE, parse_properties(text, PROPERTIES_VARIABLE)
    handed_over = os.environ.get(CONFIGURATION_FILE_VARIABLE)
    if handed_over:
        yield handed_over, _launcher_settings(handed_over)


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("The configuration file cannot be read", seen=f"{path}: {error}") from None


def _launcher_settings(path: str) -> dict[str, str]:
    try:
        values = json.loads(_read(path))
    except ValueError as error:
        raise ConfigurationError(
            f"The file {CONFIGURATION_FILE_VARIABLE} is not valid JSON", seen=f"{path}: {error}"
        ) from None
    if not isinstance(values, dict):
        raise ConfigurationError(f"The file {CONFIGURATION_FILE_VARIABLE} does not contain a JSON object", seen=path)
    return {key: value_text(value) for key, value in values.items()}


def write_configuration(path: str | os.PathLike[str], settings: Mapping[str, str]) -> None:
    """Write the file for HEADRACE_CONFIGURATION_FILE. Only this user can read it, because it may contain secrets.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_configuration(folder + "/settings.json", {"parallelism.default": "4"})
    ...     json.loads(Path(folder, "settings.json").read_text())
    {'parallelism.default': '4'}
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(dict(settings), file, indent=1)


def parse_properties(text: str, source: str) -> dict[str, str]:
    r"""Return the keys and values of a YAML document; nested keys are joined with dots.

    >>> parse_properties("rest: {port: 8082}\ntags: [a, b]\n'on': yes", "here")
    {'rest.port': '8082', 'tags': 'a;b', 'on': 'yes'}
    """
    import yaml

    try:
        found = yaml.load(text, _loader())  # noqa: S506 - it creates only strings, lists and dicts
    except yaml.YAMLError as error:
        raise ConfigurationError("The configuration is not valid YAML", seen=f"{source}: {error}") from None
    if found in (None, ""):
        return {}
    if not isinstance(found, dict):
        raise ConfigurationError("The configuration has no keys and values", seen=source, expected="key: value")
    settings: dict[str, str] = {}
    for key, value in _flat("", found, source):
        if key in settings:
            raise ConfigurationError(f"{key} is set twice", seen=source, remedy="remove one of the two")
        settings[key] = value
    return settings


def _flat(prefix: str, values: Mapping[Any, Any], source: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if not isinstance(key, str) or not key:
            raise ConfigurationError("A configuration key must be a non-empty string", seen=f"{key!r}, in {source}")
        if isinstance(value, dict) and prefix + key not in _MAPS:
            yield from _flat(f"{prefix}{key}.", value, source)
        else:
            yield prefix + key, value_text(value)


def _loader() -> Any:
    """Return a loader that keeps all scalars as strings (each option knows its type) and rejects duplicate keys."""
    import yaml

    class TextLoader(yaml.BaseLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            for key in keys:
                if isinstance(key, str) and keys.count(key) > 1:
                    raise yaml.constructor.ConstructorError(None, None, f"{key} is set twice", node.start_mark)
            return super().construct_mapping(node, deep)

    return TextLoader
