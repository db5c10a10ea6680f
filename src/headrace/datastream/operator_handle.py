"""OperatorHandle: settings of an operator (name, uid, parallelism, chaining, ...).

Decides which of these calls are legal and stores them in the environment's registry. Base of DataStream and
DataStreamSink.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.datastream.slot_sharing_group import SlotSharingGroup
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.graph.specs import StagedSink
from headrace.graph.transformations import ChainingStrategy, Transformation, TransformationKind

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

_UPPER_BOUND = 32768
PARALLELISM_DEFAULT = -1
"""Flink's number for the parallelism of the environment."""
_UID_HASH = re.compile(r"[0-9a-fA-F]{32}")


class OperatorHandle(NoJvmObject):
    """Refers to one transformation of an environment. Every setter returns the handle, so calls can be chained.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1]).map(str).name("text").uid("to-text").get_name()
    'text'
    """

    def __init__(self, env: StreamExecutionEnvironment, transformation_id: int) -> None:
        """Environments and streams create handles; programs do not call this."""
        self._env = env
        self._id = transformation_id

    @property
    def transformation_id(self) -> int:
        """Return the number of this operator (or view of a stream) in the environment's registry."""
        return self._id

    @property
    def transformation(self) -> Transformation:
        """Return the entry of this operator in the environment's registry."""
        return self._env.registry.get(self._id)

    def _operator(self, request: str) -> Transformation:
        """Return the operator that a setting applies to; views of streams (partitioning, union) have no settings."""
        t = self.transformation
        if t.kind is not TransformationKind.OPERATOR:
            raise InvalidProgramError(
                f"{request} needs an operator",
                seen=f"{request} on the result of {_VIEWS[t.kind]}",
                remedy="call it on the operator before or after: a map, a process, a sink",
            )
        return t

    def _set(self, request: str, **changes: Any) -> Self:
        self._env.registry.update(self._operator(request).id, **changes)
        return self

    def get_name(self) -> str:
        """Return the name of the operator.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> StreamExecutionEnvironment.get_execution_environment().from_collection([1]).get_name()
        'Collection Source'
        """
        t = self._operator("get_name()")
        before, after = _around(t)
        return t.name.removeprefix(before).removesuffix(after)

    def name(self, name: str) -> Self:
        """Set the name of the operator, which plans, logs and metrics show."""
        _check_string(name, "name")
        before, after = _around(self._operator("name()"))
        return self._set("name()", name=before + name + after)

    def uid(self, uid: str) -> Self:
        """Set the id that maps saved state to this operator when a changed program is restored.

        It must be unique in the program. Set one on every operator with state.
        """
        _check_string(uid, "uid")
        return self._set("uid()", uid=uid)

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Set the operator's generated id directly: 32 hexadecimal digits, as shown in a log."""
        if not isinstance(uid_hash, str) or not _UID_HASH.fullmatch(uid_hash):
            raise InvalidProgramError(
                f"Node hash must be a 32 character String that describes a hex code. Found: {uid_hash}",
                remedy="use uid() with a name of your choice if you do not have such a code",
            )
        return self._set("set_uid_hash()", uid_hash=uid_hash.lower())

    def set_description(self, description: str) -> Self:
        """Set a longer description for the plan and the web UI; logs and metrics show the name.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).map(str).set_description("numbers as text").get_name()
        'Map'
        """
        _check_string(description, "description")
        return self._set("set_description()", description=description)

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the number of parallel subtasks of the operator."""
        t = self._operator("set_parallelism()")
        check_integer(parallelism, "parallelism")
        if parallelism == PARALLELISM_DEFAULT:
            return self._set("set_parallelism()", parallelism=1 if t.non_parallel else None)
        if parallelism < 1:
            raise t.invalid(
                "The parallelism of an operator must be at least 1.",
                seen=parallelism,
                remedy="remove the call to use the parallelism of the environment",
            )
        if t.non_parallel and parallelism != 1:
            raise t.invalid(
                "The parallelism of non parallel operator must be 1.",
                seen=parallelism,
                remedy="call rebalance() after it and set the parallelism of the operators that follow",
            )
        return self._set("set_parallelism()", parallelism=parallelism)

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups of the operator, which is the limit for rescaling it."""
        t = self._operator("set_max_parallelism()")
        check_integer(max_parallelism, "maximum parallelism")
        if not 0 < max_parallelism <= _UPPER_BOUND:
            raise t.invalid(
                "The maximum parallelism must be greater than 0."
                if max_parallelism < 1
                else f"The maximum parallelism must not be greater than {_UPPER_BOUND}.",
                seen=max_parallelism,
            )
        if t.non_parallel and max_parallelism != 1:
            raise t.invalid("The maximum parallelism of non parallel operator must be 1.", seen=max_parallelism)
        return self._set("set_max_parallelism()", max_parallelism=max_parallelism)

    def force_non_parallel(self) -> Self:
        """Fix the parallelism of the operator at one."""
        return self._set("force_non_parallel()", parallelism=1, max_parallelism=1, non_parallel=True)

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Store how long output may wait in a buffer; no effect, because an epoch passes on all output when it ends."""
        check_integer(timeout_millis, "buffer timeout")
        if timeout_millis < -1:
            raise InvalidProgramError("timeout must be >= -1", seen=timeout_millis)
        warn_without_effect("set_buffer_timeout")
        return self._set("set_buffer_timeout()", buffer_timeout=timeout_millis)

    def start_new_chain(self) -> Self:
        """Start a new task at this operator instead of chaining it to the previous one."""
        return self._set("start_new_chain()", chaining=ChainingStrategy.HEAD)

    def disable_chaining(self) -> Self:
        """Never chain the operator to others."""
        return self._set("disable_chaining()", chaining=ChainingStrategy.NEVER)

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Put the operator into a group. Operators of different groups are never chained.

        Operators without a group inherit that of their inputs.
        """
        if isinstance(slot_sharing_group, SlotSharingGroup):
            self._env.register_slot_sharing_group(slot_sharing_group)
            slot_sharing_group = slot_sharing_group.get_name()
        _check_string(slot_sharing_group, "slot sharing group")
        return self._set("slot_sharing_group()", slot_sharing_group=slot_sharing_group)


def check_integer(value: object, what: str) -> None:
    """Raise if a value is not an integer.

    >>> check_integer(3, "limit")
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeMismatchError(f"The {what} must be an integer", seen=value, expected="an int")


def _check_string(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise TypeMismatchError(f"The {what} of an operator must be a string", seen=value, expected="a str")


_VIEWS = {
    TransformationKind.PARTITION: "a partitioning",
    TransformationKind.UNION: "union()",
    TransformationKind.SIDE_OUTPUT: "get_side_output()",
}


def _around(t: Transformation) -> tuple[str, str]:
    """Return what plans show before and after the name of sources and sinks."""
    if not t.inputs:
        return "Source: ", ""
    if isinstance(t.spec, StagedSink) and t.spec.steps:
        return "", f": {t.spec.steps[0]}"
    return "Sink: " if t.is_sink else "", ""
