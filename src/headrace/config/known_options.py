"""Which keys and values a configuration may hold: the check that finds a typing error before a job finds it.

Decides that an unknown key below `headrace.` is refused, with the name that was probably meant, and that the values of known
options can be read. Keys of Flink and Spark that were probably misspelt pass with a warning (`option_spelling`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from headrace.config import checkpoint_keys, restart_keys
from headrace.config.config_options import ConfigOption
from headrace.config.headrace_keys import HEADRACE_OPTIONS
from headrace.config.option_spelling import warn_of_unknown_keys
from headrace.errors import ConfigurationError

__all__ = ["check_options"]

_NAMESPACE = "headrace."


def _typed_options() -> dict[str, ConfigOption[Any]]:
    found = dict(HEADRACE_OPTIONS)
    for module in (checkpoint_keys, restart_keys):
        for option in vars(module).values():
            if isinstance(option, ConfigOption):
                found.update(dict.fromkeys((option.key, *option.fallback_keys), option))
    return found


_TYPED = _typed_options()


def check_options(values: Mapping[str, Any], source: str | None = None) -> None:
    """Raise if a key of headrace's own is unknown or a known option cannot be read; `source` says where they stand.

    >>> check_options({"headrace.epoch.target-ms": "500", "spark.anything": "1"})
    >>> check_options({"headrace.epoch.traget-ms": "500"}, "conf/headrace.yaml")
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: There is no option headrace.epoch.traget-ms [CONFIGURATION]
      seen:     headrace.epoch.traget-ms, in conf/headrace.yaml
      remedy:   did you mean headrace.epoch.target-ms?
    """
    warn_of_unknown_keys(values, source, _TYPED)
    for key, value in values.items():
        if key.startswith(_NAMESPACE) and key not in HEADRACE_OPTIONS:
            raise ConfigurationError(
                f"There is no option {key}", seen=key if source is None else f"{key}, in {source}", remedy=_nearest(key)
            )
        if key in _TYPED:
            try:
                _TYPED[key].read(value)
            except ConfigurationError as error:
                if source is None:
                    raise
                raise ConfigurationError(
                    error.message, seen=f"{error.seen}, in {source}", expected=error.expected, remedy=error.remedy
                ) from None


def _nearest(key: str) -> str:
    close = difflib.get_close_matches(key, HEADRACE_OPTIONS, n=1, cutoff=0.0)
    return f"did you mean {close[0]}?"
