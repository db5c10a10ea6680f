"""User-defined functions: scalar functions (`udf`) and table functions (`udtf`) in Python."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from headrace.errors import TypeMismatchError
from headrace.table.errors import SqlNotSupportedError
from headrace.types.logical_types import DataType

if TYPE_CHECKING:
    from headrace.table.expression import Expression

__all__ = ["FunctionContext", "ScalarFunction", "TableFunction", "UserDefinedFunction", "udf", "udtf"]


class FunctionContext:
    """What a function can learn in `open`.

    >>> FunctionContext(None, {"a": "1"}).get_job_parameter("a", "0")
    '1'
    """

    def __init__(
        self,
        base_metric_group: Any,
        job_parameters: dict[str, str] | None = None,
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
    ) -> None:
        """Tasks create it."""
        self._metrics, self._parameters = base_metric_group, job_parameters or {}
        self._names = (task_name, task_name_with_subtasks)
        self._numbers = (number_of_parallel_subtasks, max_number_of_parallel_subtasks)
        self._index, self._attempt = index_of_this_subtask, attempt_number

    def get_metric_group(self) -> Any:
        """Return the metrics of the function."""
        if self._metrics is None:
            raise SqlNotSupportedError("Metrics of functions of tables are not supported yet")
        return self._metrics

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return an option of the session."""
        return self._parameters.get(key, default_value)

    def get_task_name(self) -> str | None:
        """Return the name of the task."""
        return self._names[0]

    def get_task_name_with_subtasks(self) -> str | None:
        """Return the name of the task with the number of the subtask."""
        return self._names[1]

    def get_number_of_parallel_subtasks(self) -> int | None:
        """Return the parallelism."""
        return self._numbers[0]

    def get_max_number_of_parallel_subtasks(self) -> int | None:
        """Return the number of key groups."""
        return self._numbers[1]

    def get_index_of_this_subtask(self) -> int | None:
        """Return the number of the subtask."""
        return self._index

    def get_attempt_number(self) -> int | None:
        """Return the number of the attempt."""
        return self._attempt


class UserDefinedFunction(ABC):
    """The base of functions that are classes."""

    def open(self, function_context: FunctionContext) -> None:
        """Prepare the function; called before the first `eval` in a task."""

    def close(self) -> None:
        """Release what `open` has acquired."""

    def is_deterministic(self) -> bool:
        """Return whether equal arguments always give equal results."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function with one result for the values of a row.

    >>> class Add(ScalarFunction):
    ...     def eval(self, left, right):
    ...         return left + right
    >>> Add().eval(1, 2)
    3
    """

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the result."""


class TableFunction(UserDefinedFunction):
    """A function with any number of rows for the values of a row.

    >>> class Split(TableFunction):
    ...     def eval(self, text):
    ...         yield from text.split()
    >>> list(Split().eval("to be"))
    ['to', 'be']
    """

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return or yield rows: tuples, or values of the only column."""


class _OfCallable(ScalarFunction, TableFunction):
    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func

    def eval(self, *args: Any) -> Any:
        return self._func(*args)


class UserDefinedFunctionWrapper:
    """A function with its types."""

    def __init__(
        self,
        func: Any,
        input_types: Any,
        func_type: str = "general",
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Programs call `udf` or `udtf`."""
        if not callable(func) and not isinstance(func, UserDefinedFunction):
            raise TypeMismatchError("A user-defined function is a callable or a UserDefinedFunction", seen=func)
        if inspect.isclass(func):
            raise TypeMismatchError("A user-defined function is an instance, not a class", seen=func, remedy="call it")
        self.function: Any = func if isinstance(func, UserDefinedFunction) else _OfCallable(func)
        self.input_types = _types(input_types)
        known = self.function.is_deterministic()
        if deterministic is not None and isinstance(func, UserDefinedFunction) and deterministic != known:
            raise TypeMismatchError(
                "deterministic contradicts is_deterministic() of the function", seen=deterministic, expected=str(known)
            )
        self.deterministic: bool = known if deterministic is None else deterministic
        self._func, self._name = func, name
        functools.update_wrapper(self, func, updated=()) if inspect.isfunction(func) else None

    def get_name(self) -> str:
        """Return the name: the given one, or that of the function."""
        return self._name or str(getattr(self._func, "__name__", type(self._func).__name__))

    def __call__(self, *args: Any) -> Expression:
        """Return a call of the function, for a table."""
        from headrace.table.expressions import call

        return call(self, *args)

    def __reduce__(self) -> Any:
        """Pickle the fields, not the attributes that were copied from the function."""
        return _restored, (type(self), {k: v for k, v in vars(self).items() if not k.startswith("__")})


def _restored(cls: type[UserDefinedFunctionWrapper], state: dict[str, Any]) -> UserDefinedFunctionWrapper:
    made = cls.__new__(cls)
    made.__dict__.update(state)
    return made


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """A scalar function with its types."""

    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        """Programs call `udf`."""
        super().__init__(func, input_types, func_type, deterministic, name)
        if func_type != "general":
            raise SqlNotSupportedError(f"Functions of type '{func_type}' are not supported yet", remedy="use 'general'")
        self.result_type = _type(result_type, "result_type")


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    """A table function with its types."""

    def __init__(
        self, func: Any, input_types: Any, result_types: Any, deterministic: bool | None = None, name: str | None = None
    ) -> None:
        """Programs call `udtf`."""
        super().__init__(func, input_types, "general", deterministic, name)
        found = _types(result_types)
        if not found:
            raise TypeMismatchError("udtf needs result_types", expected="e.g. [DataTypes.STRING()]")
        self.result_types = found


def _type(given: Any, what: str) -> DataType:
    if isinstance(given, str):
        from headrace.table.type_texts import parsed_type

        return parsed_type(given)
    if not isinstance(given, DataType):
        raise TypeMismatchError(f"{what} is a DataType or its SQL", seen=given, expected="e.g. DataTypes.INT()")
    return given


def _types(given: Any) -> list[DataType] | None:
    if given is None:
        return None
    return [_type(each, "a type") for each in (given if isinstance(given, (list, tuple)) else [given])]


def udf(
    f: Any = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make a scalar function of a callable or a ScalarFunction; also a decorator.

    >>> from headrace.table import DataTypes
    >>> @udf(result_type=DataTypes.BIGINT())
    ... def add(left, right):
    ...     return left + right
    >>> add(1, 2)
    add(1, 2)
    """
    if f is None:
        return functools.partial(
            udf,
            input_types=input_types,
            result_type=result_type,
            deterministic=deterministic,
            name=name,
            func_type=func_type,
        )
    return UserDefinedScalarFunctionWrapper(f, input_types, result_type, func_type, deterministic, name)


def udtf(
    f: Any = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_types: Sequence[DataType | str] | DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Make a table function of a callable or a TableFunction; also a decorator.

    >>> from headrace.table import DataTypes
    >>> split = udtf(lambda text: text.split(), result_types=[DataTypes.STRING()])
    >>> split.function.eval("to be")
    ['to', 'be']
    """
    if f is None:
        return functools.partial(
            udtf, input_types=input_types, result_types=result_types, deterministic=deterministic, name=name
        )
    return UserDefinedTableFunctionWrapper(f, input_types, result_types, deterministic, name)
