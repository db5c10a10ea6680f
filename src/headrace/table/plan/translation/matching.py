"""MATCH_RECOGNIZE as a pattern of `headrace.cep`, with definitions and measures as functions of the rows of a match.

Rows of a match follow each other without gaps: all steps and loops are strict. A reference to a row of the match becomes a
column of a row that is put together for each evaluation, so that definitions and measures are ordinary expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headrace.graph import cep_pattern as cep
from headrace.table.analysis.pattern_refs import ALL_ROWS, PatternAggregate, PatternRef
from headrace.table.errors import SqlNotSupportedError
from headrace.table.functions.definition import NOT_CONSTANT, Argument, CallSite, Session
from headrace.table.plan.relations import Match
from headrace.table.plan.rex import InputRef, Literal, Rex, rewrite
from headrace.table.programs import Predicate, Program, Scalar
from headrace.types.logical_types import RowField, RowType

Row = tuple[Any, ...]
Events = Callable[[str], list[Row]]
"""The rows of the match so far that are mapped to a variable."""

_SKIPS = {
    "NEXT ROW": cep.SkipKind.TO_NEXT,
    "PAST LAST ROW": cep.SkipKind.PAST_LAST,
    "FIRST": cep.SkipKind.TO_FIRST,
    "LAST": cep.SkipKind.TO_LAST,
}


@dataclass(frozen=True)
class _Reference:
    """The value of a column in one row of a match."""

    variables: tuple[str, ...]
    index: int
    first: bool
    offset: int

    def value(self, events: Events) -> Any:
        """Return the value; None if there is no such row."""
        rows = [row for variable in self.variables for row in events(variable)]
        if self.offset >= len(rows):
            return None
        return rows[self.offset if self.first else -1 - self.offset][self.index]


class _Aggregate:
    """The value of an aggregate of the rows of a variable."""

    def __init__(self, variables: tuple[str, ...], rex: PatternAggregate, session: Session) -> None:
        self._variables = variables
        self._arguments = [Scalar(each, session) for each in rex.arguments]
        given = [
            Argument(each.type, each.value if isinstance(each, Literal) else NOT_CONSTANT) for each in rex.arguments
        ]
        self._accumulation = rex.function.rows(CallSite(tuple(given), rex.type, session))

    def value(self, events: Events) -> Any:
        """Return the result for the rows so far."""
        accumulation = self._accumulation
        accumulator = accumulation.create()
        for variable in self._variables:
            for row in events(variable):
                accumulator = accumulation.add(accumulator, *[each.value(row) for each in self._arguments])
        return accumulation.result(accumulator)


class _Collected:
    """Collects what expressions need of a match, as the columns of a row."""

    def __init__(self, match: Match, session: Session) -> None:
        names = variables_of(match.pattern)
        self._variables = {name: (name,) for name in names} | {ALL_ROWS: tuple(names)}
        self._variables |= {name: tuple(v for v in names if v in set(parts)) for name, parts in match.subsets}
        self._session = session
        self.parts: list[Any] = []
        self.types: list[Any] = []

    def over_columns(self, rex: Rex) -> Rex:
        """Return the expression with columns of the collected row instead of rows of the match."""
        return rewrite(rex, self._change)

    def _change(self, rex: Rex) -> Rex | None:
        if isinstance(rex, PatternRef):
            part: Any = _Reference(self._variables[rex.variable], rex.index, rex.first, rex.offset)
        elif isinstance(rex, PatternAggregate):
            part = _Aggregate(self._variables[rex.variable], rex, self._session)
        else:
            return None
        if part not in self.parts:
            self.parts.append(part)
            self.types.append(rex.type)
        return InputRef(rex.type, self.parts.index(part))


class Definition:
    """The condition of a variable: whether a row can be mapped to it."""

    def __init__(self, name: str, rex: Rex, match: Match, session: Session) -> None:
        collected = _Collected(match, session)
        self._name = name
        self._condition = Predicate(collected.over_columns(rex), session=session)
        self._parts = collected.parts
        # Alone: only columns of the row itself, so that the condition does not depend on the rows before it.
        self._own = [self._of_row(part) for part in self._parts]
        self.alone = None not in self._own

    def _of_row(self, part: Any) -> int | None:
        """Return the column of the current row that a part stands for, or None: the last row is the current one."""
        last = isinstance(part, _Reference) and not part.first and part.offset == 0 and self._name in part.variables
        return part.index if last else None

    def row(self, row: Row) -> bool:
        """Return whether a row meets a condition on it alone."""
        return self._condition.row(tuple([row[column] for column in self._own]))  # type: ignore[index]

    def row_in_match(self, row: Row, context: Any) -> bool:
        """Return whether a row meets the condition, after the rows of the match so far."""
        name, before = self._name, context.get_events_for_pattern

        def events(variable: str) -> list[Row]:
            return [*before(variable), row] if variable == name else before(variable)

        values = [
            part.value(events) if own is None else row[own] for part, own in zip(self._parts, self._own, strict=True)
        ]
        return self._condition.row(tuple(values))


class Measures:
    """The measures of a match."""

    def __init__(self, match: Match, session: Session) -> None:
        collected = _Collected(match, session)
        expressions = [collected.over_columns(rex) for _, rex in match.measures]
        self._parts = collected.parts
        row_type = RowType(tuple(RowField(f"m{i}", kind) for i, kind in enumerate(collected.types)))
        self._program = Program(expressions, None, row_type, session)

    def row(self, match: dict[str, list[Row]]) -> Row:
        """Return the values for the rows of each variable."""

        def events(variable: str) -> list[Row]:
            return match.get(variable, _NO_ROWS)

        return self._program.rows([tuple([part.value(events) for part in self._parts])])[0]


_NO_ROWS: list[Row] = []


def variables_of(pattern: tuple[Any, ...]) -> list[str]:
    """Return the variables of a pattern, in order.

    >>> variables_of(("SEQUENCE", (("VARIABLE", "A"), ("TIMES", ("VARIABLE", "B"), 1, None, True))))
    ['A', 'B']
    """
    kind, *rest = pattern
    if kind == "VARIABLE":
        return [rest[0]]
    if kind == "TIMES":
        return variables_of(rest[0])
    return [name for part in rest[0] for name in variables_of(part)]


def cep_pattern(match: Match, session: Session) -> cep.PatternData:
    """Return the pattern in the form that operators know."""
    definitions = {name: Definition(name, rex, match, session) for name, rex in match.definitions}
    parts = _flat(match.pattern)
    steps = [_step(part, definitions) for part in parts]
    steps[-1] = replace(steps[-1], window=match.within)
    return cep.PatternData(tuple(steps), _skip(match, [step.name for step in steps]))


def _skip(match: Match, names: list[str]) -> cep.Skip:
    """Return where the search goes on after a match; a subset stands for its first or last variable."""
    kind, *given = match.after_match
    if not given:
        return cep.Skip(_SKIPS[kind])
    members = dict(match.subsets).get(given[0], (given[0],))
    inside = [name for name in names if name in members]
    return cep.Skip(_SKIPS[kind], inside[0 if kind == "FIRST" else -1], strict=True)


def _flat(pattern: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    if pattern[0] != "SEQUENCE":
        return [pattern]
    return [each for part in pattern[1] for each in _flat(part)]


def _step(part: tuple[Any, ...], definitions: dict[str, Definition]) -> cep.Step:
    if part[0] == "TIMES":
        return _repeated(_step(part[1], definitions), *part[2:])
    if part[0] != "VARIABLE":
        raise SqlNotSupportedError("A quantifier in PATTERN may only follow a variable, not a group of them")
    definition = definitions.get(part[1])
    condition = None
    if definition is not None:
        alone = definition.alone
        condition = cep.Condition(definition.row if alone else definition.row_in_match, iterative=not alone)
    return cep.Step(part[1], cep.Contiguity.STRICT, condition, inner=cep.Contiguity.STRICT)


def _repeated(step: cep.Step, low: int, high: int | None, greedy: bool) -> cep.Step:
    if (low, high) == (0, 1):
        if not greedy:
            raise SqlNotSupportedError("Reluctant optional variables are not supported", remedy="write ? instead of ??")
        return replace(step, optional=True)
    if (low, high) == (1, 1):
        return step
    greedy = greedy and low != high
    optional, low = low == 0, max(low, 1)
    if high is None:
        repetition, most = cep.Repetition.LOOP, low
    else:
        repetition, most = cep.Repetition.TIMES, high
    return replace(step, repetition=repetition, least=low, most=most, optional=optional, greedy=greedy)
