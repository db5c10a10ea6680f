"""Expressions as texts, much as SQL writes them, for messages."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from headrace.table.analysis.inline import InlineCast, InlineExpression, InlineField
from headrace.table.api import nodes
from headrace.table.sql.syntax import expressions as syntax


def text_of(node: Any) -> str:  # noqa: PLR0911 - one for each kind of node
    """Return the text of a node.

    >>> text_of(syntax.Binary("+", syntax.Identifier(("a",)), syntax.Literal("INTEGER", 1)))
    'a + 1'
    """
    match node:
        case syntax.Identifier():
            return ".".join(node.names)
        case syntax.Literal(kind="STRING"):
            return "'" + str(node.value).replace("'", "''") + "'"
        case syntax.Literal():
            return "NULL" if node.value is None else str(node.value)
        case InlineExpression():
            return str(getattr(node.value, "value", node.value))
        case syntax.Symbol():
            return node.name
        case syntax.Unary():
            return f"{node.operator} {_inner(node.operand)}"
        case syntax.Binary():
            return f"{_inner(node.left)} {node.operator} {_inner(node.right)}"
        case syntax.Is():
            return f"{_inner(node.operand)} IS {'NOT ' if node.negated else ''}{node.test}"
        case syntax.FieldAccess() | InlineField():
            return f"{_inner(node.value)}.{node.field}"
        case syntax.Call():
            words = "DISTINCT " if node.quantifier == "DISTINCT" else ""
            return f"{node.name[-1]}({words}{_list(node.arguments)})"
        case InlineCast():
            return f"{node.kind}({text_of(node.value)} AS {node.type})"
        case nodes.Named():
            return f"{text_of(node.value)} AS {', '.join(node.names)}"
        case nodes.Ordered():
            return f"{text_of(node.value)} {'DESC' if node.descending else 'ASC'}"
        case nodes.WindowProperty():
            return f"{text_of(node.window)}.{node.part}"
        case nodes.UserCall():
            return f"{node.function.get_name()}({_list(node.arguments)})"
    parts = [getattr(node, each.name) for each in fields(node) if each.name != "position"]
    return f"{type(node).__name__}({_list(each for each in parts if isinstance(each, syntax.Expression))})"


def _inner(node: syntax.Expression) -> str:
    text = text_of(node)
    return f"({text})" if isinstance(node, (syntax.Binary, syntax.Is)) else text


def _list(values: Any) -> str:
    return ", ".join(map(text_of, values))
