"""OutputTag: the name and type of a side output."""

from __future__ import annotations

from typing import Any, ClassVar

from headrace.errors import NoJvmError, TypeMismatchError
from headrace.types.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TypeInformation


class OutputTag:
    """Identifies a side output: `yield tag, value` in a process function, `stream.get_side_output(tag)` outside.

    >>> late = OutputTag("late")
    >>> late == OutputTag("late"), late.tag_id
    (True, 'late')
    """

    in_use: ClassVar[bool] = False
    """True once a tag exists in this process. Before that no function can have yielded one, so operators skip the check."""

    def __init__(self, tag_id: str, type_info: TypeInformation | list[TypeInformation] | None = None) -> None:
        """Create a tag, which equals every tag with the same id; a list of types means a row of them."""
        if not tag_id:
            raise ValueError("OutputTag tag_id cannot be None or empty string")
        if not isinstance(tag_id, str):
            raise TypeMismatchError("The id of an OutputTag must be a string", seen=tag_id, expected="a str")
        if isinstance(type_info, list):
            type_info = RowTypeInfo(type_info)
        if type_info is not None and not isinstance(type_info, TypeInformation):
            raise TypeMismatchError("OutputTag type_info must be None, list or TypeInformation", seen=type_info)
        self.tag_id = tag_id
        self.type_info: TypeInformation = PickledBytesTypeInfo() if type_info is None else type_info
        OutputTag.in_use = True

    def get_java_output_tag(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError("There is no Java output tag in headrace", remedy="pass the tag itself")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        OutputTag.in_use = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and other.tag_id == self.tag_id

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r})"
