"""Decide which keys and values a configuration may have, to find a typo before a job runs.

An unknown key below `headrace.` is rejected with a suggestion, as is a value that a known option cannot parse. Keys of
Flink and Spark that are probably misspelt only cause a warning, because other versions and plugins add their own.
Probably misspelt means:

- Where all keys are known (those of Flink 1.20 to 2.3 and of Spark are in `flink_options.txt` and `spark_options.txt`;
  a key that ends in `.*` takes any name there): every unknown key.
- Where keys are passed on to RocksDB, Hadoop or Kubernetes: only a key that almost equals a known one.
- Where keys contain names that users choose, such as those of reporters: none.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from headrace.config import checkpoint_keys, headrace_keys, pipeline_keys, restart_keys
from headrace.config.config_options import ConfigOption
from headrace.errors import ConfigurationError

_NAMESPACE = "headrace."
TYPED_OPTIONS: dict[str, ConfigOption[Any]] = {
    key: option
    for module in (headrace_keys, checkpoint_keys, pipeline_keys, restart_keys)
    for option in vars(module).values()
    if isinstance(option, ConfigOption)
    for key in (option.key, *option.fallback_keys)
}
"""All options of the `*_keys` modules, by each of their keys."""
HEADRACE_OPTIONS = {key: option for key, option in TYPED_OPTIONS.items() if key.startswith(_NAMESPACE)}
"""All options below `headrace.`, by key."""

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
"""Any key may follow: the next part is a name that the program chooses, or everything is passed on to another system."""
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
"""Unknown keys may follow; only one that almost equals a known key is reported."""
_NEARLY = 0.93
_warned: set[str] = set()


class UnknownOptionWarning(UserWarning):
    """A key of the configuration is unknown, and probably misspelt.

    >>> issubclass(UnknownOptionWarning, UserWarning)
    True
    """


def check_options(values: Mapping[str, Any], source: str | None = None) -> None:
    """Raise if a `headrace.` key is unknown or the value of a known option cannot be parsed; `source` names the origin.

    >>> check_options({"headrace.epoch.target-ms": "500", "spark.anything": "1"})
    >>> check_options({"headrace.epoch.traget-ms": "500"}, "conf/headrace.yaml")
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: There is no option headrace.epoch.traget-ms [CONFIGURATION]
      seen:     headrace.epoch.traget-ms, in conf/headrace.yaml
      remedy:   did you mean headrace.epoch.target-ms?
    """
    _warn_of_misspelt_keys(values, source)
    for key, value in values.items():
        if key.startswith(_NAMESPACE) and key not in HEADRACE_OPTIONS:
            meant = difflib.get_close_matches(key, HEADRACE_OPTIONS, n=1, cutoff=0.0)[0]
            raise ConfigurationError(
                f"There is no option {key}",
                seen=key if source is None else f"{key}, in {source}",
                remedy=f"did you mean {meant}?",
            )
        if key in TYPED_OPTIONS:
            try:
                TYPED_OPTIONS[key].read(value)
            except ConfigurationError as error:
                if source is None:
                    raise
                raise ConfigurationError(
                    error.message, seen=f"{error.seen}, in {source}", expected=error.expected, remedy=error.remedy
                ) from None


@lru_cache(maxsize=1)
def _known() -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Return the keys, the prefixes that any name may follow, and the first parts of Flink's keys."""
    room = files("headrace.config")
    flink = room.joinpath("flink_options.txt").read_text(encoding="ascii").split()
    spark = room.joinpath("spark_options.txt").read_text(encoding="ascii").split()
    maps = tuple(line.removesuffix("*") for line in flink if line.endswith(".*"))
    return frozenset(flink) | frozenset(spark), maps, frozenset(line.partition(".")[0] for line in flink)


def nearest_key(key: str) -> str | None:
    """Return the known key that was probably meant, or None if the key is fine.

    >>> nearest_key("execution.checkpointing.intervall"), nearest_key("restart-strategy.typ")
    ('execution.checkpointing.interval', 'restart-strategy.type')
    >>> nearest_key("spark.executor.memroy"), nearest_key("metrics.reporter.mine.port")
    ('spark.executor.memory', None)
    """
    keys, maps, spaces = _known()
    space = key.partition(".")[0]
    if key in keys or key.startswith((*_NAMED, *maps)) or (space not in spaces and space != "spark"):
        return None
    candidates = {k for k in (*keys, *TYPED_OPTIONS) if k.partition(".")[0] == space}
    if key in candidates:
        return None
    cutoff = _NEARLY if key.startswith(_PASSED_ON) else 0.0
    close = difflib.get_close_matches(key, candidates, n=1, cutoff=cutoff)
    return close[0] if close else None


def _warn_of_misspelt_keys(keys: Iterable[str], source: str | None) -> None:
    """Warn of each key that was probably misspelt, once per process."""
    for key in keys:
        if key not in _warned and (meant := nearest_key(key)) is not None:
            _warned.add(key)
            where = "" if source is None else f", in {source}"
            text = f"{key}{where} is not a known option and has no effect: did you mean {meant}?"
            warnings.warn(text, UnknownOptionWarning, stacklevel=3)
