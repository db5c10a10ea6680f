"""Functions of programs, in the form that the analyser and the operators know.

Arguments are converted to Python objects, results back to the internal form. A function object is opened before its first
call in a task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.table.conversion import to_external, to_internal
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.functions.definition import (
    Argument,
    ArgumentError,
    CallSite,
    ScalarFunction,
    Signature,
    TableFunction,
)
from headrace.table.udf import (
    FunctionContext,
    UserDefinedFunction,
    UserDefinedFunctionWrapper,
    UserDefinedScalarFunctionWrapper,
    UserDefinedTableFunctionWrapper,
)
from headrace.types.logical_types import DataType, RowField, RowType
from headrace.types.row import Row

_Function = Any


@dataclass(frozen=True)
class UserScalarFunction(ScalarFunction):
    """A scalar function of a program."""

    wrapper: Any = None

    def __reduce__(self) -> Any:
        """Pickle the program's function."""
        return user_function, (self.name, self.wrapper)


@dataclass(frozen=True)
class UserTableFunction(TableFunction):
    """A table function of a program."""

    wrapper: Any = None

    def __reduce__(self) -> Any:
        """Pickle the program's function."""
        return user_function, (self.name, self.wrapper)


def user_function(name: str, function: Any) -> UserScalarFunction | UserTableFunction:
    """Return a function of a program under a name; `function` is made by `udf` or `udtf`."""
    if isinstance(function, UserDefinedScalarFunctionWrapper):
        return _scalar(name, function)
    if isinstance(function, UserDefinedTableFunctionWrapper):
        return _table(name, function)
    if isinstance(function, UserDefinedFunctionWrapper):
        raise SqlNotSupportedError(f"Functions such as '{name}' are not supported yet", seen=type(function).__name__)
    if isinstance(function, UserDefinedFunction):
        raise TypeMismatchError(
            f"The function '{name}' has no result type",
            seen=type(function).__name__,
            remedy="wrap it: udf(function, result_type=DataTypes.INT())",
        )
    raise TypeMismatchError(
        f"'{name}' is not a user-defined function", seen=function, expected="the result of udf() or udtf()"
    )


def imported_function(name: str, path: str) -> UserScalarFunction | UserTableFunction:
    """Return the function at a path such as `module.name` or `module.Class`."""
    module, _, member = path.rpartition(".")
    try:
        found = getattr(import_module(module), member)
    except (ImportError, AttributeError, ValueError) as error:
        raise SqlValidationError(
            f"The function '{name}' cannot be imported: {error}", seen=path, expected="'module.name' of a Python object"
        ) from None
    if isinstance(found, type) and issubclass(found, UserDefinedFunction):
        found = found()
    return user_function(name, found)


def _signature(name: str, wrapper: Any, arguments: Sequence[Argument], result: DataType) -> Signature:
    given = tuple(argument.type for argument in arguments)
    wanted = wrapper.input_types
    if wanted is None:
        return Signature(given, result)
    if len(wanted) != len(given):
        raise ArgumentError(f"{name} takes {len(wanted)} arguments")
    return Signature(tuple(wanted), result)


def _scalar(name: str, wrapper: UserDefinedScalarFunctionWrapper) -> UserScalarFunction:
    result = wrapper.result_type

    def rows(site: CallSite) -> Callable[..., Any]:
        call = _opened(wrapper, site)
        inward = to_internal(result, site.session.time_zone)
        return lambda *values: inward(call(values))

    return UserScalarFunction(
        name,
        lambda arguments: _signature(name, wrapper, arguments, result),
        rows,
        strict=False,
        deterministic=wrapper.deterministic,
        wrapper=wrapper,
    )


def _table(name: str, wrapper: UserDefinedTableFunctionWrapper) -> UserTableFunction:
    kinds = wrapper.result_types
    row_type = RowType(tuple(RowField(f"f{index}", kind) for index, kind in enumerate(kinds)), is_nullable=False)
    if len(kinds) == 1 and isinstance(kinds[0], RowType):
        row_type = kinds[0]

    def rows(site: CallSite) -> Callable[..., Iterable[tuple[Any, ...]]]:
        call = _opened(wrapper, site)
        inward = to_internal(row_type.not_null(), site.session.time_zone)
        single = len(row_type) == 1

        def found(*values: Any) -> list[tuple[Any, ...]]:
            results = call(values)
            if results is None:
                return []
            if isinstance(results, (str, bytes, tuple, Row)) or not isinstance(results, Iterable):
                results = [results]
            return [inward(each if isinstance(each, (tuple, list, Row)) or not single else (each,)) for each in results]

        return found

    return UserTableFunction(
        name,
        lambda arguments: _signature(name, wrapper, arguments, row_type),
        rows,
        deterministic=wrapper.deterministic,
        wrapper=wrapper,
    )


def _opened(wrapper: Any, site: CallSite) -> Callable[[Sequence[Any]], Any]:
    """Return the function for a call of a program's function with internal values."""
    outward = [to_external(argument.type) for argument in site.arguments]
    function = wrapper.function
    evaluate: Callable[..., Any] | None = None

    def call(values: Sequence[Any]) -> Any:
        nonlocal evaluate
        if evaluate is None:
            function.open(FunctionContext(None, dict(site.session.options)))
            evaluate = function.eval
        return evaluate(*[value if convert is None else convert(value) for convert, value in zip(outward, values)])

    return call
