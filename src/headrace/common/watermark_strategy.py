"""WatermarkStrategy: how a stream gets its timestamps and watermarks, as data.

Checks the arguments. The operators package runs strategies. A strategy is immutable: each ``with_*`` call returns a new
one that keeps all other settings, including the timestamp assigner, regardless of the order of the calls.
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from headrace.common.watermark_generator import (
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    Watermark,
    WatermarkGenerator,
    WatermarkOutput,
)
from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import InvalidProgramError, NoJvmError, TypeMismatchError
from headrace.types.time import Duration, Time, millis_of

__all__ = [
    "MAX_WATERMARK",
    "MIN_TIMESTAMP",
    "AssignerWithPeriodicWatermarksWrapper",
    "BoundedOutOfOrderness",
    "CustomGenerator",
    "FunctionTimestampAssigner",
    "MonotonousTimestamps",
    "NoWatermarks",
    "TimestampAssigner",
    "Watermark",
    "WatermarkAlignment",
    "WatermarkGenerator",
    "WatermarkOutput",
    "WatermarkStrategy",
]
offer_pyflink_names(__name__)

_DEFAULT_ALIGNMENT_INTERVAL_MS = 1000


class TimestampAssigner(ABC):
    """Extracts the event time of elements. Programs implement a subclass.

    >>> class BySecondField(TimestampAssigner):
    ...     def extract_timestamp(self, value, record_timestamp):
    ...         return value[1]
    >>> BySecondField().extract_timestamp(("a", 17), MIN_TIMESTAMP)
    17
    """

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the event time of ``value`` in milliseconds since 1970-01-01 UTC.

        ``record_timestamp`` is the previous timestamp of the element, from its source or an earlier assigner, or
        ``MIN_TIMESTAMP`` if it has none.
        """


class FunctionTimestampAssigner(TimestampAssigner):
    """An assigner from a plain function.

    >>> FunctionTimestampAssigner(lambda value, record_timestamp: value["at"]).extract_timestamp({"at": 5}, 0)
    5
    """

    def __init__(self, function: Callable[[Any, int], int]) -> None:
        """Set a function of the element and its previous timestamp."""
        self._function = function

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the result of the function."""
        return self._function(value, record_timestamp)


def _assigner(given: object) -> TimestampAssigner:
    is_class = isinstance(given, type)
    if not is_class and callable(getattr(given, "extract_timestamp", None)):
        return cast("TimestampAssigner", given)
    if not is_class and callable(given) and _takes_two(given):
        return FunctionTimestampAssigner(given)
    raise TypeMismatchError(
        "with_timestamp_assigner takes a timestamp assigner",
        seen=given,
        expected="an object of a subclass of TimestampAssigner, or a function of an element and its previous timestamp",
        remedy="pass an object, not the class" if is_class else None,
    )


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # a C function without a signature
        return True
    return True


@dataclass(frozen=True, slots=True)
class NoWatermarks:
    """No watermarks except the last one, at the end of bounded input.

    >>> WatermarkStrategy.no_watermarks().generator
    NoWatermarks()
    """


@dataclass(frozen=True, slots=True)
class MonotonousTimestamps:
    """Timestamps increase within each split: the watermark is the highest timestamp minus one.

    >>> WatermarkStrategy.for_monotonous_timestamps().generator
    MonotonousTimestamps()
    """


@dataclass(frozen=True, slots=True)
class BoundedOutOfOrderness:
    """Elements are late by at most ``millis``: the watermark is the highest timestamp minus ``millis`` minus one.

    >>> WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2)).generator
    BoundedOutOfOrderness(millis=2000)
    """

    millis: int


@dataclass(frozen=True, slots=True)
class CustomGenerator:
    """Watermarks from a ``WatermarkGenerator`` of the program; ``create`` returns a new one for each split.

    >>> class Never(WatermarkGenerator):
    ...     def on_event(self, event, event_timestamp, output):
    ...         pass
    ...
    ...     def on_periodic_emit(self, output):
    ...         pass
    >>> isinstance(CustomGenerator(Never).create(), Never)
    True
    """

    supplier: Callable[[], WatermarkGenerator]

    def create(self) -> WatermarkGenerator:
        """Create a generator and check it."""
        generator = self.supplier()
        if not all(callable(getattr(generator, name, None)) for name in ("on_event", "on_periodic_emit")):
            raise TypeMismatchError(
                "The supplier of for_generator did not return a watermark generator",
                seen=generator,
                expected="an object with on_event and on_periodic_emit",
            )
        return generator


Generator = NoWatermarks | MonotonousTimestamps | BoundedOutOfOrderness | CustomGenerator


@dataclass(frozen=True, slots=True)
class WatermarkAlignment:
    """Sources of a group wait for the slowest one if they are ahead of it by more than ``max_drift_ms``.

    >>> WatermarkAlignment("orders", 20_000).update_interval_ms
    1000
    """

    group: str
    max_drift_ms: int
    update_interval_ms: int = _DEFAULT_ALIGNMENT_INTERVAL_MS


@dataclass(frozen=True, slots=True)
class WatermarkStrategy(NoJvmObject):
    """How a stream gets its timestamps and watermarks.

    >>> strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(20))
    >>> strategy = strategy.with_idleness(Duration.of_minutes(1))
    >>> strategy.generator, strategy.idle_timeout_ms
    (BoundedOutOfOrderness(millis=20000), 60000)
    """

    generator: Generator
    timestamp_assigner: TimestampAssigner | None = None
    idle_timeout_ms: int | None = None
    alignment: WatermarkAlignment | None = None

    def with_timestamp_assigner(
        self, timestamp_assigner: TimestampAssigner | Callable[[Any, int], int]
    ) -> WatermarkStrategy:
        """Return a strategy that takes event times from ``timestamp_assigner``: an object, or a function with the same arguments.

        >>> class ByValue(TimestampAssigner):
        ...     def extract_timestamp(self, value, record_timestamp):
        ...         return value
        >>> strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(ByValue())
        >>> strategy.timestamp_assigner.extract_timestamp(3, MIN_TIMESTAMP)
        3
        >>> strategy = strategy.with_timestamp_assigner(lambda value, record_timestamp: value + 1)
        >>> strategy.timestamp_assigner.extract_timestamp(3, MIN_TIMESTAMP)
        4
        """
        return dataclasses.replace(self, timestamp_assigner=_assigner(timestamp_assigner))

    def with_idleness(self, idle_timeout: Duration | Time) -> WatermarkStrategy:
        """Return a strategy that marks a split idle after ``idle_timeout`` without data, so that it does not hold back others.

        >>> WatermarkStrategy.no_watermarks().with_idleness(Duration.of_seconds(5)).idle_timeout_ms
        5000
        """
        return dataclasses.replace(self, idle_timeout_ms=millis_of(idle_timeout, "with_idleness", at_least=1))

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration | Time,
        update_interval: Duration | Time | None = None,
    ) -> WatermarkStrategy:
        """Return a strategy whose source waits for others of ``watermark_group`` if it is too far ahead of them.

        >>> strategy = WatermarkStrategy.for_monotonous_timestamps()
        >>> strategy.with_watermark_alignment("g", Duration.of_seconds(20)).alignment
        WatermarkAlignment(group='g', max_drift_ms=20000, update_interval_ms=1000)
        """
        group: object = watermark_group
        if not isinstance(group, str) or not group:
            raise InvalidProgramError("A watermark group needs a name", seen=group, expected="a str")
        alignment = WatermarkAlignment(
            group,
            millis_of(max_allowed_watermark_drift, "max_allowed_watermark_drift"),
            _DEFAULT_ALIGNMENT_INTERVAL_MS
            if update_interval is None
            else millis_of(update_interval, "update_interval", at_least=1),
        )
        return dataclasses.replace(self, alignment=alignment)

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return the strategy for timestamps that increase within each split.

        >>> WatermarkStrategy.for_monotonous_timestamps().timestamp_assigner is None
        True
        """
        return WatermarkStrategy(MonotonousTimestamps())

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration | Time) -> WatermarkStrategy:
        """Return the strategy for elements that are late by at most ``max_out_of_orderness``.

        >>> WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).generator.millis
        0
        """
        return WatermarkStrategy(BoundedOutOfOrderness(millis_of(max_out_of_orderness, "max_out_of_orderness")))

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy for streams that need no event time.

        >>> WatermarkStrategy.no_watermarks() == WatermarkStrategy(NoWatermarks())
        True
        """
        return WatermarkStrategy(NoWatermarks())

    @staticmethod
    def for_generator(supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Return the strategy with a ``WatermarkGenerator`` of the program.

        ``supplier`` is a subclass of ``WatermarkGenerator`` or a function without arguments that returns one: each
        split needs its own.

        >>> class Punctuated(WatermarkGenerator):
        ...     def on_event(self, event, event_timestamp, output):
        ...         if event == "end":
        ...             output.emit_watermark(Watermark(event_timestamp))
        ...
        ...     def on_periodic_emit(self, output):
        ...         pass
        >>> WatermarkStrategy.for_generator(Punctuated).generator.supplier is Punctuated
        True
        """
        given: object = supplier
        if isinstance(given, WatermarkGenerator) or not callable(given):
            raise TypeMismatchError(
                "for_generator takes a supplier of watermark generators",
                seen=given,
                expected="a subclass of WatermarkGenerator, or a function without arguments that returns one",
                remedy="pass the class, not an object: every split has its own generator",
            )
        return WatermarkStrategy(CustomGenerator(supplier))


class AssignerWithPeriodicWatermarksWrapper:
    """PyFlink's wrapper of a Java assigner. Raises NoJvmError.

    >>> AssignerWithPeriodicWatermarksWrapper(None)
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: AssignerWithPeriodicWatermarksWrapper wraps a Java object [NO_JVM]
      remedy:   write a TimestampAssigner and a WatermarkGenerator in Python, see WatermarkStrategy.for_generator
    """

    def __init__(self, j_assigner_with_periodic_watermarks: object) -> None:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError(
            "AssignerWithPeriodicWatermarksWrapper wraps a Java object",
            remedy="write a TimestampAssigner and a WatermarkGenerator in Python, see WatermarkStrategy.for_generator",
        )
