"""Keys that a program sets through its environment and `ExecutionConfig`, with Flink's names and defaults.

Decides keys, types and defaults. Methods, a configuration file and `-D` set the same values. Some name files of a program and
the Python that runs them; `moved_settings` says how these change when the files move, as in the zip that carries a program to
a job service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headrace.config.config_options import ConfigOptions
from headrace.types.time import Duration

_key = ConfigOptions.OptionBuilder

PARALLELISM = _key("parallelism.default").int_type().no_default_value()
MAX_PARALLELISM = _key("pipeline.max-parallelism").int_type().default_value(-1)
RUNTIME_MODE = _key("execution.runtime-mode").string_type().default_value("STREAMING")
BUFFER_TIMEOUT = (
    _key("execution.buffer-timeout.interval", "execution.buffer-timeout")
    .duration_type()
    .default_value(Duration.of_millis(100))
)
CHAINING = _key("pipeline.operator-chaining.enabled", "pipeline.operator-chaining").boolean_type().default_value(True)
CHAINING_ACROSS_MAX_PARALLELISM = (
    _key("pipeline.operator-chaining.chain-operators-with-different-max-parallelism").boolean_type().default_value(True)
)
JOB_NAME = _key("pipeline.name").string_type().default_value("Flink Streaming Job")
JOB_PARAMETERS = _key("pipeline.global-job-parameters").map_type().default_value({})
TIME_CHARACTERISTIC = _key("pipeline.time-characteristic").string_type().default_value("EventTime")
WATERMARK_INTERVAL = _key("pipeline.auto-watermark-interval").duration_type().default_value(Duration.of_millis(200))
OBJECT_REUSE = _key("pipeline.object-reuse").boolean_type().default_value(False)
AUTO_UIDS = _key("pipeline.auto-generate-uids").boolean_type().default_value(True)
GENERIC_TYPES = _key("pipeline.generic-types").boolean_type().default_value(True)
LATENCY_INTERVAL = _key("metrics.latency.interval").duration_type().default_value(Duration.of_millis(0))
LATENCY_GRANULARITY = _key("metrics.latency.granularity").string_type().default_value("operator")

# Kept for the getters of ExecutionConfig, without effect.
CANCELLATION_INTERVAL = _key("task.cancellation.interval").duration_type().default_value(Duration.of_seconds(30))
CANCELLATION_TIMEOUT = _key("task.cancellation.timeout").duration_type().default_value(Duration.of_seconds(180))
CLOSURE_CLEANER = _key("pipeline.closure-cleaner-level").string_type().default_value("RECURSIVE")
FORCE_KRYO = _key("pipeline.force-kryo").boolean_type().default_value(False)
FORCE_AVRO = _key("pipeline.force-avro").boolean_type().default_value(False)
AUTO_TYPES = _key("pipeline.auto-type-registration").boolean_type().default_value(True)
COMPRESSION = _key("execution.checkpointing.snapshot-compression").boolean_type().default_value(False)


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
