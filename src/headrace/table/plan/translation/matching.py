"""MATCH_RECOGNIZE as a pattern of `headrace.graph.cep_pattern`: steps, conditions over rows, and measures.

Expressions over pattern variables are evaluated in two steps: the values of their references (columns of the first or last
row of a variable, aggregates over its rows) form a row, over which the rest of the expression is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from headrace.graph.cep_pattern import Condition, Contiguity, PatternData, Repetition, Skip, SkipKind, Step
from headrace.table.analysis.pattern_refs import ALL_ROWS, PatternAggregate, PatternRef
from headrace.table.errors import SqlNotSupportedError
from headrace.table.functions.definition import Argument, CallSite, Session
from headrace.table.plan.relations import Match
from headrace.table.plan.rex import InputRef, Rex, rewrite
from headrace.table.programs import Scalar

Row = tuple[Any, ...]
RowsOf = Callable[[str], Sequence[Row]]
"""Returns the rows that are mapped to a variable."""


class PatternExpression:
    """An expression over the rows of a match. Pickled without its compiled parts."""

    def __init__(self, rex: Rex, session: Session) -> None:
        """`rex` contains `PatternRef`s and `PatternAggregate`s."""
        self._session = session
        self._references: list[Rex] = []
        self._rex = rewrite(rex, self._as_column)

    def _as_column(self, rex: Rex) -> Rex | None:
        if not isinstance(rex, (PatternRef, PatternAggregate)):
            return None
        if rex not in self._references:
            self._references.append(rex)
        return InputRef(rex.type, self._references.index(rex))

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("_session", "_references", "_rex")}

    def __call__(self, rows_of: RowsOf) -> Any:
        """Return the value for the rows of a match."""
        function, readers = self._compiled
        return function(tuple([read(rows_of) for read in readers]))

    @cached_property
    def _compiled(self) -> tuple[Callable[[Row], Any], list[Callable[[RowsOf], Any]]]:
        return Scalar(self._rex, self._session).value, [self._reader(each) for each in self._references]

    def _reader(self, rex: Rex) -> Callable[[RowsOf], Any]:
        if isinstance(rex, PatternRef):
            variable, column, offset = rex.variable, rex.index, rex.offset
            place = offset if rex.first else -1 - offset

            def value(rows_of: RowsOf) -> Any:
                rows = rows_of(variable)
                return rows[place][column] if offset < len(rows) else None

            return value
        assert isinstance(rex, PatternAggregate)
        site = CallSite(tuple(Argument(each.type) for each in rex.arguments), rex.type, self._session)
        accumulation = rex.function.rows(site)
        arguments = [Scalar(each, self._session).value for each in rex.arguments]
        of = rex.variable

        def aggregate(rows_of: RowsOf) -> Any:
            accumulator = accumulation.create()
            for row in rows_of(of):
                accumulator = accumulation.add(accumulator, *[argument(row) for argument in arguments])
            return accumulation.result(accumulator)

        return aggregate


class Variables:
    """The variables of a pattern in their order, and its subsets."""

    def __init__(self, names: Sequence[str], subsets: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        """A subset, and `*` for all rows, stand for the rows of several variables."""
        self._members = {name: (name,) for name in names} | dict(subsets) | {ALL_ROWS: tuple(names)}

    def rows(self, name: str, match: Callable[[str], Sequence[Row]]) -> Sequence[Row]:
        """Return the rows of a variable, given those of each variable of the pattern."""
        members = self._members[name]
        if len(members) == 1:
            return match(members[0])
        return [row for each in self._members[ALL_ROWS] if each in members for row in match(each)]


class RowCondition:
    """The definition of a variable as a condition of a step: the tested row counts as the variable's last row."""

    def __init__(self, name: str, expression: PatternExpression, variables: Variables) -> None:
        """`name` is the variable that is defined."""
        self._name, self._expression, self._variables = name, expression, variables

    def __call__(self, row: Row, context: Any) -> bool:
        """Return whether a row may be mapped to the variable."""

        def matched(name: str) -> Sequence[Row]:
            before = list(context.get_events_for_pattern(name))
            return [*before, row] if name == self._name else before

        return self._expression(lambda name: self._variables.rows(name, matched)) is True


class MatchMeasures:
    """The measures of a match."""

    def __init__(self, expressions: Sequence[PatternExpression], variables: Variables) -> None:
        """One expression per measure."""
        self._expressions, self._variables = tuple(expressions), variables

    def row(self, match: dict[str, list[Row]]) -> Row:
        """Return the values of the measures for the rows of each variable."""

        def rows_of(name: str) -> Sequence[Row]:
            return self._variables.rows(name, lambda each: match.get(each, ()))

        return tuple([expression(rows_of) for expression in self._expressions])


def pattern_of(match: Match, session: Session) -> tuple[PatternData, MatchMeasures]:
    """Return the pattern and the measures of a MATCH_RECOGNIZE."""
    elements: Any = match.pattern[1] if match.pattern[0] == "SEQUENCE" else (match.pattern,)
    names = [_variable(element) for element in elements]
    variables = Variables(names, match.subsets)
    definitions = dict(match.definitions)
    steps = []
    for number, (element, name) in enumerate(zip(elements, names)):
        rex = definitions.get(name)
        condition = None
        if rex is not None:
            condition = Condition(RowCondition(name, PatternExpression(rex, session), variables), iterative=True)
        last = number == len(names) - 1
        steps.append(_step(element, name, condition, match.within if last else None))
    measures = [PatternExpression(rex, session) for _, rex in match.measures]
    return PatternData(tuple(steps), _skip(match, names)), MatchMeasures(measures, variables)


def _variable(element: tuple[Any, ...]) -> str:
    inner = element[1] if element[0] == "TIMES" else element
    if inner[0] != "VARIABLE":
        raise SqlNotSupportedError("Groups of variables are not supported in PATTERN", seen=inner[0])
    return str(inner[1])


def _step(element: tuple[Any, ...], name: str, condition: Condition | None, within: int | None) -> Step:
    """Return a step that follows the one before it directly; repeated rows follow each other directly too."""
    strict = Contiguity.STRICT
    if element[0] == "VARIABLE":
        return Step(name, strict, condition, window=within)
    _, _, least, most, greedy = element
    if (least, most) == (0, 1):
        return Step(name, strict, condition, optional=True, window=within)
    repetition = Repetition.LOOP if most is None else Repetition.TIMES
    return Step(
        name,
        strict,
        condition,
        repetition=repetition,
        least=max(least, 1),
        most=most or 1,
        optional=least == 0,
        greedy=greedy and least != most,
        inner=strict,
        window=within,
    )


def _skip(match: Match, names: Sequence[str]) -> Skip:
    kind, *name = match.after_match
    if kind == "PAST LAST ROW":
        return Skip(SkipKind.PAST_LAST)
    if kind == "NEXT ROW":
        return Skip(SkipKind.TO_NEXT)
    members = dict(match.subsets).get(name[0], (name[0],))
    inside = [each for each in names if each in members]
    chosen = inside[0] if kind == "FIRST" else inside[-1]
    return Skip(SkipKind.TO_FIRST if kind == "FIRST" else SkipKind.TO_LAST, chosen, strict=True)
