"""Check the functions that programs pass; the errors guess the mistake."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.functions import Function


def check_or_callable(given: Any, wanted: type[Function], message: str) -> None:
    """Accept an object of ``wanted`` or a plain callable.

    >>> from headrace.datastream.functions import MapFunction
    >>> check_or_callable(len, MapFunction, "The input must be a MapFunction or a callable function")
    >>> check_or_callable(3, MapFunction, "The input must be a MapFunction or a callable function")
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: The input must be a MapFunction or a callable function [TYPE_MISMATCH]
      seen:     3 (int)
    """
    if isinstance(given, wanted):
        return
    is_function_class = isinstance(given, type) and issubclass(given, Function)
    other_kind = isinstance(given, Function) and not callable(given)
    if not callable(given) or is_function_class or other_kind:
        raise TypeMismatchError(message, seen=_shown(given), remedy=_remedy(given, wanted))


def check_function(given: Any, wanted: tuple[type[Function], ...], methods: tuple[str, ...], message: str) -> None:
    """Accept an object of one of ``wanted``, or any object that has all ``methods``.

    >>> from headrace.datastream.functions import CoMapFunction
    >>> check_function(len, (CoMapFunction,), ("map1", "map2"), "The input function must be a CoMapFunction!")
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: The input function must be a CoMapFunction! [TYPE_MISMATCH]
      seen:     <built-in function len> (builtin_function_or_method)
      remedy:   pass an object of a subclass of CoMapFunction
    """
    if isinstance(given, wanted):
        return
    looks_right = not isinstance(given, (type, Function)) and all(callable(getattr(given, m, None)) for m in methods)
    if not looks_right:
        remedy = _remedy(given, wanted[0]) or f"pass an object of a subclass of {wanted[0].__name__}"
        raise TypeMismatchError(message, seen=_shown(given), remedy=remedy)


def _shown(given: object) -> object:
    return "None" if given is None else given


def _remedy(given: object, wanted: type[Function]) -> str | None:
    if isinstance(given, type) and issubclass(given, Function):
        return f"pass an object, not the class: {given.__name__}(...)"
    if isinstance(given, Function):
        return f"{type(given).__name__} is another kind of function: derive it from {wanted.__name__}"
    return None
