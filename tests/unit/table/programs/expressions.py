"""Building blocks for tests: calls whose types are inferred, and a plain evaluator to compare with."""

from typing import Any

from headrace.table.functions.conversion import cast_result
from headrace.table.functions.definition import NOT_CONSTANT, Argument, Session
from headrace.table.functions.registry import scalar_function
from headrace.table.functions.type_rules import same_type
from headrace.table.plan.rex import Call, FieldAccess, InputRef, Literal, Rex
from headrace.table.programs.calls import call_site
from headrace.types.logical_types import DataType


def cast(rex: Rex, target: DataType, name: str = "CAST") -> Rex:
    """Return a cast of an expression."""
    return Call(cast_result(rex.type, target, safe=name == "TRY_CAST"), scalar_function(name), (rex,))


def call(name: str, *arguments: Rex) -> Call:
    """Return a call with the types that the function infers; arguments are cast as it demands."""
    function = scalar_function(name)
    signature = function.infer(
        [Argument(each.type, each.value if isinstance(each, Literal) else NOT_CONSTANT) for each in arguments]
    )
    fitted = tuple(
        each if same_type(each.type, target) else cast(each, target)
        for each, target in zip(arguments, signature.arguments)
    )
    return Call(signature.result, function, fitted)


def literal(value: Any, data_type: DataType) -> Literal:
    """Return a constant: NOT NULL unless it is None."""
    return Literal(data_type if value is None else data_type.not_null(), value)


def plainly(rex: Rex, row: tuple[Any, ...], session: Session = Session()) -> Any:  # noqa: B008
    """Evaluate an expression by the definition of its functions, without any generated code."""
    match rex:
        case InputRef():
            return row[rex.index]
        case Literal():
            return rex.value
        case FieldAccess():
            value = plainly(rex.value, row, session)
            return None if value is None else value[rex.index]
    assert isinstance(rex, Call)
    name, arguments = rex.function.name, rex.arguments
    if name in ("CASE", "IF"):
        for place in range(0, len(arguments) - 1, 2):
            if plainly(arguments[place], row, session):
                return plainly(arguments[place + 1], row, session)
        return plainly(arguments[-1], row, session)
    if name in ("COALESCE", "IFNULL"):
        return next((v for v in (plainly(each, row, session) for each in arguments) if v is not None), None)
    if name in ("AND", "OR"):
        found: Any = name == "AND"
        for each in arguments:
            value = plainly(each, row, session)
            if value is (name == "OR"):
                return value
            found = None if value is None else found
        return found
    values = [plainly(each, row, session) for each in arguments]
    if rex.function.strict and None in values:
        return None
    return rex.function.rows(call_site(rex, session))(*values)
