"""The options that say which files a job brings along, and which Python runs them: Flink's keys."""

from __future__ import annotations

from headrace.config.config_options import ConfigOptions

__all__ = ["CACHED_FILES", "PYTHON_ARCHIVES", "PYTHON_EXECUTABLE", "PYTHON_FILES", "PYTHON_REQUIREMENTS"]

_key = ConfigOptions.key

CACHED_FILES = _key("pipeline.cached-files").list_type().default_value([])
PYTHON_FILES = _key("python.files").string_type().default_value("")
PYTHON_REQUIREMENTS = _key("python.requirements").string_type().no_default_value()
PYTHON_ARCHIVES = _key("python.archives").string_type().default_value("")
PYTHON_EXECUTABLE = _key("python.executable").string_type().no_default_value()
