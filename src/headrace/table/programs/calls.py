"""The call site of a call: what its function needs to know to make its implementation."""

from __future__ import annotations

from headrace.table.functions.definition import NOT_CONSTANT, Argument, CallSite, Session
from headrace.table.plan.rex import Call, Literal


def call_site(call: Call, session: Session) -> CallSite:
    """Return what the function needs to know to make its implementation."""
    arguments = tuple(
        Argument(each.type, each.value if isinstance(each, Literal) else NOT_CONSTANT) for each in call.arguments
    )
    return CallSite(arguments, call.type, session)
