"""Keys of Flink and Spark that were probably misspelt: which they are, and what was probably meant.

Decides by the keys that Flink 1.20 to 2.3 and Spark define themselves (`flink_options.txt`, `spark_options.txt`: one key
in a line; a key with `.*` takes any name behind it). Where Flink knows all keys, an unknown one is doubtful. Where keys
have free parts (names of reporters or secrets; settings that go on to RocksDB, Hadoop or Kubernetes), only one that is
nearly a known key is. Nothing is refused: other versions and plugins have keys of their own.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

__all__ = ["UnknownOptionWarning", "nearest_key", "warn_of_unknown_keys"]

_NAMED = (
    "metrics.reporter.",
    "metrics.scope.variables.",
    "events.reporter.",
    "traces.reporter.",
    "external-resource.",
    "fs.",
    "flink.hadoop.",
    "s3.",
    "gs.",
    "oss.",
    "sql-gateway.endpoint.",
)
"""Any key may follow: the first part is a name that the program chooses, or everything goes on to another system."""
_PASSED_ON = (
    "kubernetes.",
    "restart-strategy.",
    "security.",
    "state.backend.",
    "table.",
    "user.",
    "yarn.",
    "high-availability.",
    "spark.",
)
"""Keys that this list does not know may follow; one that nearly equals a known key is a misspelt one."""
_NEARLY = 0.93
_warned: set[str] = set()


class UnknownOptionWarning(UserWarning):
    """A key of the configuration is not known, and was probably misspelt.

    >>> issubclass(UnknownOptionWarning, UserWarning)
    True
    """


@lru_cache(maxsize=1)
def _known() -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """The keys, the beginnings of keys with names behind them, and the first parts of Flink's keys."""
    room = files("headrace.config")
    flink = room.joinpath("flink_options.txt").read_text(encoding="ascii").split()
    spark = room.joinpath("spark_options.txt").read_text(encoding="ascii").split()
    maps = tuple(line.removesuffix("*") for line in flink if line.endswith(".*"))
    return frozenset(flink) | frozenset(spark), maps, frozenset(line.partition(".")[0] for line in flink)


def nearest_key(key: str, also_known: Iterable[str] = ()) -> str | None:
    """Give the known key that was probably meant, None if the key is fine.

    >>> nearest_key("execution.checkpointing.intervall"), nearest_key("restart-strategy.typ")
    ('execution.checkpointing.interval', 'restart-strategy.type')
    >>> nearest_key("spark.executor.memroy"), nearest_key("metrics.reporter.mine.port")
    ('spark.executor.memory', None)
    """
    keys, maps, spaces = _known()
    space = key.partition(".")[0]
    if key in keys or key.startswith((*_NAMED, *maps)) or (space not in spaces and space != "spark"):
        return None
    candidates = {k for k in (*keys, *also_known) if k.partition(".")[0] == space}
    if key in candidates:
        return None
    cutoff = _NEARLY if key.startswith(_PASSED_ON) else 0.0
    close = difflib.get_close_matches(key, candidates, n=1, cutoff=cutoff)
    return close[0] if close else None


def warn_of_unknown_keys(keys: Iterable[str], source: str | None, also_known: Iterable[str] = ()) -> None:
    """Warn of keys that were probably misspelt, each the first time in this process.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_unknown_keys(
    ...         ["parallelism.defalt", "parallelism.defalt", "parallelism.default"], "conf/headrace.yaml"
    ...     )
    >>> [str(warning.message).rpartition(": ")[2] for warning in caught]
    ['did you mean parallelism.default?']
    """
    for key in keys:
        if key in _warned:
            continue
        meant = nearest_key(key, also_known)
        if meant is not None:
            _warned.add(key)
            where = "" if source is None else f", in {source}"
            text = f"{key}{where} is no option that is known, so it has no effect: did you mean {meant}?"
            warnings.warn(text, UnknownOptionWarning, stacklevel=3)
