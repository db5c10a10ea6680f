"""State descriptors: the name, kind, type and options of a state, as a program declares them.

Decides which arguments are valid. Never holds values. User functions make them in ``open()``; backends read them.
Functions are recognised by their methods, not by their class, so that this package does not depend on
``headrace.functions``.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar

from headrace.errors import StateError, TypeMismatchError
from headrace.state.ttl import StateTtlConfig
from headrace.types.typeinfo import TypeInformation, Types


class StateDescriptor(ABC):
    """Base class of descriptors: a name, a type and, optionally, a time to live.

    ``kind`` names the kind of state and is saved with it.

    >>> ValueStateDescriptor("count", Types.LONG()).kind
    'ValueState'
    """

    kind: ClassVar[str] = "State"

    def __init__(self, name: str, type_info: TypeInformation | None) -> None:
        """Take the name, which must be unique in its operator, and the type of the stored values."""
        given: object = name
        if not (isinstance(given, str) and given):
            raise StateError("A state needs a name", seen=name, expected="a non-empty string")
        self.name = name
        self.type_info = type_info
        self._ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        """Return the name of the state.

        >>> ValueStateDescriptor("count", Types.LONG()).get_name()
        'count'
        """
        return self.name

    def get_type_info(self) -> TypeInformation | None:
        """Return the type of the value stored per key (for a list state: the list's type).

        >>> ValueStateDescriptor("count", Types.LONG()).get_type_info() == Types.LONG()
        True
        """
        return self.type_info

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let values expire according to ``ttl_config``.

        >>> from headrace.common.time import Time
        >>> descriptor = ValueStateDescriptor("count", Types.LONG())
        >>> descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        >>> descriptor.ttl_config.is_enabled()
        True
        """
        if not isinstance(ttl_config, StateTtlConfig):
            raise TypeMismatchError("Wrong time-to-live configuration", seen=ttl_config, expected="StateTtlConfig")
        self._ttl_config = ttl_config

    @property
    def ttl_config(self) -> StateTtlConfig | None:
        """The time-to-live configuration, ``None`` if there is none."""
        return self._ttl_config

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class ValueStateDescriptor(StateDescriptor):
    """Describes a ``ValueState``.

    >>> ValueStateDescriptor("count", Types.LONG())
    ValueStateDescriptor('count')
    """

    kind = "ValueState"

    def __init__(self, name: str, value_type_info: TypeInformation | None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """Describes a ``ListState``.

    >>> ListStateDescriptor("events", Types.STRING()).type_info == Types.LIST(Types.STRING())
    True
    """

    kind = "ListState"

    def __init__(self, name: str, elem_type_info: TypeInformation | None) -> None:
        super().__init__(name, None if elem_type_info is None else Types.LIST(elem_type_info))


class MapStateDescriptor(StateDescriptor):
    """Describes a ``MapState`` or a ``BroadcastState``.

    >>> descriptor = MapStateDescriptor("rules", Types.STRING(), Types.INT())
    >>> descriptor.type_info == Types.MAP(Types.STRING(), Types.INT())
    True
    """

    kind = "MapState"

    def __init__(
        self, name: str, key_type_info: TypeInformation | None, value_type_info: TypeInformation | None
    ) -> None:
        if key_type_info is None or value_type_info is None:
            super().__init__(name, None)
        else:
            super().__init__(name, Types.MAP(key_type_info, value_type_info))


class _CallableReduce:
    """Wraps a plain callable as a ReduceFunction."""

    def __init__(self, func: Callable[[Any, Any], Any]) -> None:
        self.reduce = func


class ReducingStateDescriptor(StateDescriptor):
    """Describes a ``ReducingState``: takes a ``ReduceFunction`` or any callable of two values.

    >>> ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG()).get_reduce_function().reduce(1, 2)
    3
    >>> ReducingStateDescriptor("sum", 5, Types.LONG())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: A reducing state needs a ReduceFunction or a callable ...
    """

    kind = "ReducingState"

    def __init__(self, name: str, reduce_function: Any, type_info: TypeInformation | None) -> None:
        super().__init__(name, type_info)
        if not callable(getattr(reduce_function, "reduce", None)):
            if not callable(reduce_function):
                raise TypeMismatchError("A reducing state needs a ReduceFunction or a callable", seen=reduce_function)
            reduce_function = _CallableReduce(reduce_function)
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> Any:
        """Return an object with a method ``reduce(value1, value2)``.

        >>> ReducingStateDescriptor("max", max, Types.LONG()).get_reduce_function().reduce(3, 7)
        7
        """
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """Describes an ``AggregatingState``: takes an ``AggregateFunction`` and the type of its accumulator.

    >>> AggregatingStateDescriptor("mean", max, Types.LONG())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: An aggregating state needs an AggregateFunction ...
    """

    kind = "AggregatingState"

    def __init__(self, name: str, agg_function: Any, state_type_info: TypeInformation | None) -> None:
        super().__init__(name, state_type_info)
        missing = [
            method
            for method in ("create_accumulator", "add", "get_result", "merge")
            if not callable(getattr(agg_function, method, None))
        ]
        if missing:
            raise TypeMismatchError(
                "An aggregating state needs an AggregateFunction",
                seen=agg_function,
                expected="the methods " + ", ".join(missing),
            )
        self._agg_function = agg_function

    def get_agg_function(self) -> Any:
        """Return the aggregate function."""
        return self._agg_function
