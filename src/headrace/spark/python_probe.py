"""Ask the executors of a Spark master for their versions of Python and headrace. For `headrace doctor`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from headrace.spark.context import spark_context
from headrace.spark.failures import as_epoch_error

_TASK_SECONDS = 0.2


def probe_executors(settings: dict[str, str]) -> list[dict[str, Any]]:
    """Run a small job with these settings; return host, Python and headrace of each executor that took part."""
    context = spark_context(None, settings)
    try:
        tasks: Any = context.parallelize([], max(2, 2 * context.defaultParallelism))
        found = tasks.mapPartitions(_look).collect()
    except Exception as error:
        raise as_epoch_error(error) from None
    return [dict(entry) for entry in sorted(set(found))]


def _look(_: Iterable[Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    import socket
    import sys

    import headrace

    time.sleep(_TASK_SECONDS)  # so that the tasks spread over all executors
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    yield (("host", socket.gethostname()), ("python", version), ("headrace", headrace.__version__))
