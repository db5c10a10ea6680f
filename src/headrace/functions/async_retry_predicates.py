"""Predefined predicates for `AsyncRetryStrategy`: after which results and errors a call is retried."""

from __future__ import annotations

from typing import Any

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]


def empty_result_predicate(result: list[Any] | None) -> bool:
    """Return whether a call returned no result.

    >>> empty_result_predicate([]), empty_result_predicate([1])
    (True, False)
    """
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """Return whether a call raised.

    >>> has_exception_predicate(None)
    False
    """
    return error is not None


def exception_type_predicate(error: BaseException, expected_error_type: type[BaseException]) -> bool:
    """Return whether a call raised an error of this type.

    >>> exception_type_predicate(KeyError("a"), LookupError)
    True
    """
    return isinstance(error, expected_error_type)
