"""The user's calls as frozen records in a registry. Streams hold ids, so a later `.name(...)` replaces a record.

`TransformationRegistry` is the only mutable class of this package: one per environment, filled by `headrace.datastream` and
read by `stream_graph.build_stream_graph`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from headrace.errors import InvalidProgramError
from headrace.graph.partitioners import Partitioner
from headrace.graph.specs import OperatorSpec
from headrace.types.typeinfo import TypeInformation


class ChainingStrategy(Enum):
    """Whether an operator may be chained to the one before it (ALWAYS), starts a chain (HEAD) or is never chained (NEVER)."""

    ALWAYS = "ALWAYS"
    HEAD = "HEAD"
    NEVER = "NEVER"


class TransformationKind(Enum):
    """Whether a transformation does work (OPERATOR), or is only a view of another one."""

    OPERATOR = "operator"
    PARTITION = "partition"
    UNION = "union"
    SIDE_OUTPUT = "side output"


@dataclass(frozen=True)
class Transformation:
    """One call of the user's program.

    `inputs` are ids of transformations: exactly two for a two-input operator. Views (partition, union, side output) keep
    the defaults of fields that do not apply to them.
    """

    id: int
    kind: TransformationKind
    inputs: tuple[int, ...]
    output_type: TypeInformation | None = None
    spec: OperatorSpec | None = None
    partitioner: Partitioner | None = None
    output_tag: Any = None
    name: str = ""
    description: str | None = None
    uid: str | None = None
    uid_hash: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    non_parallel: bool = False
    """Whether the operator can run only with parallelism 1 (a collection source, window_all)."""
    slot_sharing_group: str | None = None
    chaining: ChainingStrategy = ChainingStrategy.ALWAYS
    buffer_timeout: int | None = None
    is_sink: bool = False
    side_types: dict[str, TypeInformation | None] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    """Facts for the plan only, such as the resources of a slot sharing group."""

    def invalid(self, message: str, seen: object = None, remedy: str | None = None) -> InvalidProgramError:
        """Return the error of a program in which this operator is wrong."""
        return InvalidProgramError(message, operator_name=self.name, uid=self.uid, seen=seen, remedy=remedy)


class TransformationRegistry:
    """All transformations of one program, in the order of the calls.

    >>> registry = TransformationRegistry()
    >>> t = registry.add(TransformationKind.UNION, ())
    >>> registry.update(t, name="both").name
    'both'
    """

    def __init__(self) -> None:
        self._items: dict[int, Transformation] = {}
        self._next = 1
        self._first_of_program = 1

    def add(self, kind: TransformationKind, inputs: tuple[int, ...], **fields: Any) -> int:
        """Add a new transformation. Return its id."""
        number = self._next
        self._next += 1
        self._items[number] = Transformation(id=number, kind=kind, inputs=inputs, **fields)
        return number

    def get(self, number: int) -> Transformation:
        """Return the transformation with this id."""
        return self._items[number]

    def update(self, number: int, **changes: Any) -> Transformation:
        """Replace fields of a transformation. Return the new one."""
        self._items[number] = replace(self._items[number], **changes)
        return self._items[number]

    def program(self, without_inputs: Container[int] = ()) -> TransformationRegistry:
        """Return the next job: the operators since the last `start_new_program`, and everything that they depend on.

        Sources that no operator reads are left out, like in Flink, and so are the inputs of the transformations
        `without_inputs`, whose elements are already known.

        >>> registry = TransformationRegistry()
        >>> source = registry.add(TransformationKind.OPERATOR, ())
        >>> registry.start_new_program()
        >>> unread, sink = [registry.add(TransformationKind.OPERATOR, inputs) for inputs in ((), (source,))]
        >>> [t.id for t in registry.program()] == [source, sink]
        True
        """
        wanted = {
            number
            for number, item in self._items.items()
            if number >= self._first_of_program and item.kind is TransformationKind.OPERATOR and item.inputs
        }
        waiting = list(wanted)
        while waiting:
            current = waiting.pop()
            for number in () if current in without_inputs else self._items[current].inputs:
                if number not in wanted:
                    wanted.add(number)
                    waiting.append(number)
        chosen = TransformationRegistry()
        chosen._next = self._next
        chosen._items = {number: self._items[number] for number in sorted(wanted)}
        return chosen

    def separate(self) -> TransformationRegistry:
        """Return a registry for a program of its own, which may depend on everything so far.

        >>> registry = TransformationRegistry()
        >>> source = registry.add(TransformationKind.OPERATOR, ())
        >>> sink = registry.add(TransformationKind.OPERATOR, (source,))
        >>> separate = registry.separate()
        >>> other = separate.add(TransformationKind.OPERATOR, (source,))
        >>> [t.id for t in separate.program()] == [source, other], len(registry)
        (True, 2)
        """
        copy = TransformationRegistry()
        copy._items = dict(self._items)
        copy._next = copy._first_of_program = self._next
        return copy

    def start_new_program(self) -> None:
        """Leave everything so far out of later programs, except where later calls depend on it, like Flink."""
        self._first_of_program = self._next

    def __iter__(self) -> Iterator[Transformation]:
        return iter(self._items.values())

    def __contains__(self, number: object) -> bool:
        return number in self._items

    def __len__(self) -> int:
        return len(self._items)
