"""SlotSharingGroup and MemorySize: which operators share a slot, and the resources of such a slot.

On Spark the resources are only shown in the plan: Spark's own settings size the executors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import total_ordering
from typing import Any

from headrace.compatibility.names import offer_pyflink_names
from headrace.errors import InvalidProgramError, NoJvmError, TypeMismatchError

__all__ = ["MemorySize", "SlotSharingGroup"]
offer_pyflink_names(__name__)

_UNITS = (("tb", 1 << 40), ("gb", 1 << 30), ("mb", 1 << 20), ("kb", 1 << 10))


@total_ordering
class MemorySize:
    """An amount of memory.

    >>> MemorySize.of_mebi_bytes(100).get_bytes()
    104857600
    >>> str(MemorySize(bytes_size=2048)), MemorySize(bytes_size=1) < MemorySize(bytes_size=2)
    ('2 kb', True)
    """

    def __init__(self, j_memory_size: object = None, bytes_size: int | None = None) -> None:
        """Set the size; the first parameter is only for compatibility."""
        if j_memory_size is not None:
            raise NoJvmError("MemorySize does not take a Java object", remedy="use MemorySize(bytes_size=...)")
        if not isinstance(bytes_size, int) or isinstance(bytes_size, bool):
            raise TypeMismatchError("A memory size must be a number of bytes", seen=bytes_size, expected="an int")
        if bytes_size < 0:
            raise InvalidProgramError("A memory size must be >= 0", seen=bytes_size)
        self._bytes = bytes_size

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return a size in units of 1024 * 1024 bytes.

        >>> MemorySize.of_mebi_bytes(3).get_mebi_bytes()
        3
        """
        return MemorySize(bytes_size=mebi_bytes << 20)

    def get_bytes(self) -> int:
        """Return the size in bytes."""
        return self._bytes

    def get_kibi_bytes(self) -> int:
        """Return the size in units of 1024 bytes, rounded down."""
        return self._bytes >> 10

    def get_mebi_bytes(self) -> int:
        """Return the size in units of 1024 ** 2 bytes, rounded down."""
        return self._bytes >> 20

    def get_gibi_bytes(self) -> int:
        """Return the size in units of 1024 ** 3 bytes, rounded down."""
        return self._bytes >> 30

    def get_tebi_bytes(self) -> int:
        """Return the size in units of 1024 ** 4 bytes, rounded down."""
        return self._bytes >> 40

    def get_java_memory_size(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError("There is no Java memory size in headrace", remedy="use get_bytes()")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySize) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, MemorySize):
            raise TypeMismatchError("A memory size can only be compared with another one", seen=other)
        return self._bytes < other._bytes

    def __str__(self) -> str:
        """Return the size in the largest unit that divides it, like Flink."""
        for unit, size in _UNITS:
            if self._bytes and self._bytes % size == 0:
                return f"{self._bytes // size} {unit}"
        return f"{self._bytes} bytes"

    def __repr__(self) -> str:
        return f"MemorySize(bytes_size={self._bytes})"


@dataclass(frozen=True)
class SlotSharingGroup:
    """A named group of operators that may share a slot, with the optional resources of such a slot.

    >>> group = SlotSharingGroup.builder("heavy").set_cpu_cores(2.0).set_task_heap_memory_mb(512).build()
    >>> group.get_name(), group.get_cpu_cores(), str(group.get_task_heap_memory())
    ('heavy', 2.0, '512 mb')
    """

    _name: str
    _cpu_cores: float | None = None
    _task_heap_memory: MemorySize | None = None
    _task_off_heap_memory: MemorySize | None = None
    _managed_memory: MemorySize | None = None
    _external_resources: dict[str, float] = field(default_factory=dict, hash=False)

    def get_name(self) -> str:
        """Return the name of the group."""
        return self._name

    def get_managed_memory(self) -> MemorySize | None:
        """Return the memory for state on disk, or None if it was not set."""
        return self._managed_memory

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the heap memory, or None if it was not set."""
        return self._task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the memory outside of the heap, or None if it was not set."""
        return self._task_off_heap_memory

    def get_cpu_cores(self) -> float | None:
        """Return the number of cores, or None if it was not set."""
        return self._cpu_cores

    def get_external_resources(self) -> dict[str, float]:
        """Return other resources by name."""
        return dict(self._external_resources)

    def get_java_slot_sharing_group(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError("There is no Java slot sharing group in headrace", remedy="pass the group itself")

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Start a group of this name.

        >>> SlotSharingGroup.builder("g").build().get_managed_memory() is None
        True
        """
        return SlotSharingGroup.Builder(name)

    class Builder:
        """Collects the parts of a group."""

        def __init__(self, name: str) -> None:
            """Programs call `SlotSharingGroup.builder`."""
            if not isinstance(name, str) or not name:
                raise InvalidProgramError("A slot sharing group needs a name", seen=name, expected="a str")
            self._group = SlotSharingGroup(name)

        def _set(self, **parts: Any) -> SlotSharingGroup.Builder:
            self._group = replace(self._group, **parts)
            return self

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Set the number of cores."""
            if not cpu_cores > 0:
                raise InvalidProgramError("The cpu cores should be positive.", seen=cpu_cores)
            return self._set(_cpu_cores=float(cpu_cores))

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the heap memory."""
            if task_heap_memory.get_bytes() <= 0:
                raise InvalidProgramError("The task heap memory should be positive.", seen=str(task_heap_memory))
            return self._set(_task_heap_memory=task_heap_memory)

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the heap memory in units of 1024 ** 2 bytes."""
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory outside of the heap."""
            return self._set(_task_off_heap_memory=task_off_heap_memory)

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory outside of the heap in units of 1024 ** 2 bytes."""
            return self.set_task_off_heap_memory(MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory for state on disk."""
            return self._set(_managed_memory=managed_memory)

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory for state on disk in units of 1024 ** 2 bytes."""
            return self.set_managed_memory(MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Set another resource, such as a number of GPUs."""
            return self._set(_external_resources={**self._group.get_external_resources(), name: float(value)})

        def build(self) -> SlotSharingGroup:
            """Build the group; cores and heap memory must be set both or not at all."""
            group, nothing = self._group, MemorySize(bytes_size=0)
            if group.get_cpu_cores() is not None and group.get_task_heap_memory() is not None:
                self._set(
                    _task_off_heap_memory=group.get_task_off_heap_memory() or nothing,
                    _managed_memory=group.get_managed_memory() or nothing,
                )
            elif group != SlotSharingGroup(group.get_name()):
                raise InvalidProgramError(
                    "The cpu cores and task heap memory are required when specifying the resource of a slot sharing "
                    "group. You need to explicitly configure them with positive value.",
                    seen=f"group {group.get_name()!r}",
                )
            return self._group
