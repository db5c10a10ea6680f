"""Expressions as Python source: what `Program`, `Predicate` and `Scalar` compile for rows.

How a call becomes source:

1. AND, OR, CASE, COALESCE and their kin become Python's own conditionals, so that they are lazy (`special_forms`).
2. A function with `inline` source is written out, any other is called.
3. Arguments of strict functions that can be null are tested first; types without nulls need no test.
4. An expression that occurs more than once is computed where it occurs first and kept in a local variable, unless that
   place is inside a branch that may not be taken: then other places compute it again.
5. Deeply nested expressions are split into functions, because Python limits the nesting of parentheses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from headrace.table.functions.definition import Inline, Session
from headrace.table.plan.rex import Call, FieldAccess, InputRef, Literal, Rex, children
from headrace.table.programs import special_forms
from headrace.table.programs.calls import call_site
from headrace.table.programs.failing import can_fail
from headrace.table.programs.sharing import ExpressionKeys

_DEEPEST = 20
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SIMPLE = (bool, int, str, bytes, type(None))


class RowCode:
    """Writes source for expressions over a row; `namespace` has the objects that the source refers to."""

    def __init__(self, session: Session, column: Callable[[int], str], parameters: str) -> None:
        """`column` returns the source for a column by its number; `parameters` are those of helper functions."""
        self.namespace: dict[str, Any] = {}
        self.helpers: list[str] = []
        self.temporaries = 0
        self._session = session
        self._column = column
        self._parameters = parameters
        self._bound: dict[int, str] = {}
        self._key = ExpressionKeys().of
        self._uses: Counter[int] = Counter()
        self._depth = 0

    # -- sharing

    def count(self, rex: Rex) -> None:
        """Count the uses of an expression and its parts; call it for all expressions before `value` and `test`."""
        key = self._key(rex)
        self._uses[key] += 1
        if self._uses[key] == 1:
            for part in children(rex):
                self.count(part)

    def shared(self, rex: Rex) -> bool:
        """Return whether an expression is used more than once, so that its value should be kept."""
        return self._uses[self._key(rex)] > 1

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Forget at the end which values were computed: the branch may not have been taken."""
        saved = dict(self._bound)
        yield
        self._bound = saved

    def temporary(self) -> str:
        """Return a new name of a local variable."""
        self.temporaries += 1
        return f"t{self.temporaries}"

    def hoisted(self, value: Any) -> str:
        """Return the name of an object that is made once."""
        name = f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    # -- values

    def value(self, rex: Rex) -> str:
        """Return source for the value of an expression: a name, a literal, or something in parentheses."""
        if isinstance(rex, Literal):
            return self._literal(rex.value)
        key = self._key(rex)
        if key in self._bound:
            return self._bound[key]
        if isinstance(rex, InputRef):
            return self._column(rex.index)
        source = self._nested(rex)
        if self._uses[key] > 1:
            self._bound[key] = self.temporary()
            return f"({self._bound[key]} := {source})"
        return f"({source})"

    def named(self, rex: Rex) -> tuple[str, str]:
        """Return source that computes an expression and keeps it, and the name under which it can be used afterwards."""
        source = self.value(rex)
        if source.isidentifier():
            return source, source
        key = self._key(rex)
        if key in self._bound:  # the source has just set this variable
            return source, self._bound[key]
        name = self.temporary()
        if not isinstance(rex, Literal):
            self._bound[key] = name
        return f"({name} := {source})", name

    def _literal(self, value: Any) -> str:
        if type(value) not in _SIMPLE:
            return self.hoisted(value)
        return f"({value!r})" if type(value) is int else repr(value)

    def _nested(self, rex: Rex) -> str:
        if self._depth < _DEEPEST:
            self._depth += 1
            source = self._computed(rex)
            self._depth -= 1
            return source
        bound, self._bound, depth, self._depth = self._bound, {}, self._depth, 0
        source = self._computed(rex)
        self._bound, self._depth = bound, depth
        name = f"g{len(self.helpers)}"
        self.helpers.append(f"def {name}({self._parameters}):\n    return {source}\n")
        return f"{name}({self._parameters})"

    def _computed(self, rex: Rex) -> str:
        if isinstance(rex, FieldAccess):
            return self._field(rex)
        assert isinstance(rex, Call), rex
        special = special_forms.FORMS.get(rex.function.name)
        if special is not None:
            return special(self, rex)
        guard, source = self._call(rex)
        return f"None if {guard} else {source}" if guard else source

    def _field(self, rex: FieldAccess) -> str:
        if not rex.value.type.is_nullable:
            return f"{self.value(rex.value)}[{rex.index}]"
        source, name = self.named(rex.value)
        return f"None if {source} is None else {name}[{rex.index}]"

    def _call(self, call: Call) -> tuple[str, str]:
        """Return the test whether an argument is null, empty if there is none, and the source of the result otherwise."""
        site = call_site(call, self._session)
        inline = None if call.function.inline is None else call.function.inline(site)
        order = list(range(len(call.arguments)))
        if inline is not None:
            # Variables are set in the order of the text.
            used = [int(place) for place in _PLACEHOLDER.findall(inline.template) if place.isdigit()]
            order = list(dict.fromkeys([*used, *order]))
        sources: dict[int, str] = {}
        guards = []
        if call.function.strict and any(each.type.is_nullable for each in call.arguments):
            for place in order:
                # An operand that fails must fail even if another one is null.
                if call.arguments[place].type.is_nullable or can_fail(call.arguments[place]):
                    source, sources[place] = self.named(call.arguments[place])
                    guards.append(f"{source} is None")
        with self.branch() if guards else _same():
            for place in order:
                if place not in sources:
                    sources[place] = self.value(call.arguments[place])
        operands = [sources[place] for place in range(len(order))]
        if inline is None:
            result = f"{self.hoisted(call.function.rows(site))}({', '.join(operands)})"
        else:
            result = self._written(inline, operands)
        # `|` evaluates all tests, so that the variables they set can be used later on.
        guard = guards[0] if len(guards) == 1 else " | ".join(f"({each})" for each in guards)
        return guard, result

    def _written(self, inline: Inline, operands: Sequence[str]) -> str:
        names = {name: self.hoisted(value) for name, value in inline.objects.items()}
        if "{t}" in inline.template:
            names["t"] = self.temporary()
        places = Counter(_PLACEHOLDER.findall(inline.template))
        seen: dict[str, str] = {}

        def replaced(found: re.Match[str]) -> str:
            place = found[1]
            if not place.isdigit():
                return names[place]
            source = operands[int(place)]
            if places[place] == 1 or not source.startswith("("):
                return source
            if place in seen:
                return seen[place]
            seen[place] = self.temporary()
            return f"({seen[place]} := {source})"

        return _PLACEHOLDER.sub(replaced, inline.template)

    # -- conditions

    def test(self, rex: Rex) -> str:
        """Return source that is true for Python exactly if the expression is TRUE (not FALSE and not NULL)."""
        if not isinstance(rex, Call) or self.shared(rex) or self._depth >= _DEEPEST:
            return self.value(rex)
        special = special_forms.TESTS.get(rex.function.name)
        if special is not None:
            self._depth += 1
            source = special(self, rex)
            self._depth -= 1
            return f"({source})"
        if rex.function.name in special_forms.FORMS or not rex.function.strict:
            return self.value(rex)
        self._depth += 1
        guard, source = self._call(rex)
        self._depth -= 1
        return f"(not ({guard}) and ({source}))" if guard else f"({source})"


@contextmanager
def _same() -> Iterator[None]:
    yield
