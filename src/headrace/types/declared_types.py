"""Convert the type that a program declares to the one that the graph stores: None for any Python object.

Called by the stream classes and the environment.
"""

from __future__ import annotations

from headrace.errors import TypeMismatchError
from headrace.types.typeinfo import PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation, Types


def declared_type(given: object, what: str = "output_type") -> TypeInformation | None:
    """Return the type to store for ``given``: None, a type, or a list of field types (which means a row).

    >>> declared_type(None) is None, declared_type(Types.PICKLED_BYTE_ARRAY()) is None
    (True, True)
    >>> declared_type([Types.INT(), Types.STRING()])
    RowTypeInfo(Integer, String)
    >>> declared_type(int)
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: output_type must be None, list or TypeInformation [TYPE_MISMATCH]
      seen:     <class 'int'> (type)
      expected: a TypeInformation, e.g. Types.INT()
    """
    if given is None or isinstance(given, PickledBytesTypeInfo):
        return None
    if isinstance(given, TypeInformation):
        return given
    if isinstance(given, list):
        return RowTypeInfo(given)
    name = getattr(given, "__name__", "")
    raise TypeMismatchError(
        f"{what} must be None, list or TypeInformation",
        seen=given,
        expected="a TypeInformation, e.g. Types.INT()",
        remedy=f"call it: Types.{name}()" if callable(given) and name.isupper() else None,
    )


def shown_type(kept: TypeInformation | None) -> TypeInformation:
    """Return the type to show for a stored one; unnamed fields of a row are named by position.

    >>> shown_type(None)
    PickledByteArrayTypeInfo
    >>> shown_type(Types.ROW([Types.INT(), Types.STRING()]))
    RowTypeInfo(f0: Integer, f1: String)
    """
    if kept is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(kept, RowTypeInfo):
        return RowTypeInfo([shown_type(field) for field in kept.get_field_types()], kept.get_field_names())
    if isinstance(kept, TupleTypeInfo):
        return TupleTypeInfo([shown_type(field) for field in kept.get_field_types()])
    return kept
