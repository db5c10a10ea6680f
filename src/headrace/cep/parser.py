"""Patterns from strings, for configuration files and quick trials.

    pattern    = sequence [ "within" duration ]
    sequence   = step { [ "->" | "..>" ] step }        nothing: followed_by, "->": next, "..>": followed_by_any
    step       = [ "!" ] name | ( name | "(" sequence ")" ) [ quantifier ] [ until ]
                                                       "!x": not_followed_by, "-> !x": not_next
    quantifier = ( "?" | "+" | "*" | "{n}" | "{n,}" | "{n,m}" ) [ "?" ] [ "!" | "%" ] [ "&" ]
                                                       "?": optional, "!": consecutive, "%": allow_combinations, "&": greedy
    until      = "until" "(" name ")"                  the name of a condition
    duration   = number ( "ms" | "s" | "sec" | "min" | "h" | "d" )

A quantifier directly follows its step, without a blank. Conditions are given by the name of the step; a step without one
takes every event. Errors show the string with a mark under the column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from headrace.cep.after_match_skip_strategy import AfterMatchSkipStrategy
from headrace.cep.pattern import GroupPattern, Pattern
from headrace.graph.cep_pattern import MalformedPatternException
from headrace.types.time import Duration

_UNITS = {"ms": 1, "s": 1000, "sec": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<sign>\.\.>|->|[()!]))")
_QUANTIFIER = re.compile(
    r"(?:(?P<sign>[?+*])|\{(?P<least>\d+)(?P<comma>,)?(?P<most>\d+)?\})?(?P<optional>\?)?(?P<inner>[!%])?(?P<greedy>&)?"
)


class PatternSyntaxError(MalformedPatternException):
    """The string is not a pattern; `column` counts from 1.

    >>> parse_pattern("a -> )", {})
    Traceback (most recent call last):
    ...
    headrace.cep.parser.PatternSyntaxError: Expected the name of a step or '(' at column 6 [PATTERN_SYNTAX]
      seen:     a -> )
                     ^
    """

    code = "PATTERN_SYNTAX"

    def __init__(self, message: str, text: str, column: int) -> None:
        super().__init__(f"{message} at column {column}", seen=f"{text}\n{' ' * (column - 1)}^")
        self.column = column


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def parse_pattern(
    text: str, conditions: Mapping[str, Any], skip_strategy: AfterMatchSkipStrategy | None = None
) -> Pattern:
    """Return the pattern.

    >>> parse_pattern("start (a -> b){2,}! !stop ..> end within 5 min", {"a": str.isalpha})
    Pattern('start (a -> b){2,}! !stop ..> end')
    """
    parser = _Parser(text, conditions)
    pattern = parser.sequence(skip_strategy)
    if parser.peek_is("within"):
        parser.within(pattern)
    parser.at_end()
    unused = sorted(set(conditions) - parser.used)
    if unused:
        raise MalformedPatternException.at(
            unused[0], "There is a condition for a step that the text does not have", remedy="check the names"
        )
    return pattern


class _Parser:
    """One pass over the string, one method per rule."""

    def __init__(self, text: str, conditions: Mapping[str, Any]) -> None:
        self._text = text
        self._conditions = conditions
        self._at = 0
        self.used: set[str] = set()

    # -- rules ----------------------------------------------------------------------------------------------------

    def sequence(self, skip: AfterMatchSkipStrategy | None = None) -> Pattern:
        pattern = self._step(None, "", skip)
        while True:
            token = self._peek()
            if token is None or token.text in (")", "within"):
                return pattern
            relation = ""
            if token.text in ("->", "..>"):
                relation = self._next().text
            pattern = self._step(pattern, relation, None)

    def within(self, pattern: Pattern) -> None:
        self._next()
        number = self._expect("number", "a number")
        unit = self._peek()
        if unit is None or unit.text not in _UNITS:
            self._fail(f"Expected a unit of time ({', '.join(_UNITS)})", unit)
        self._next()
        pattern.within(Duration.of_millis(int(number.text) * _UNITS[unit.text]))

    def peek_is(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.text == text

    def at_end(self) -> None:
        token = self._peek()
        if token is not None:
            self._fail(f"Unexpected {token.text!r}", token)

    def _step(self, before: Pattern | None, relation: str, skip: AfterMatchSkipStrategy | None) -> Pattern:
        token = self._peek()
        if token is not None and token.text == "!":
            return self._not(before, relation)
        if token is None or (token.kind != "name" and token.text != "("):
            self._fail("Expected the name of a step or '('", token)
        self._next()
        if token.text == "(":
            inner: str | Pattern = self.sequence()
            closing = self._peek()
            if closing is None or closing.text != ")":
                self._fail("Expected ')'", closing)
            self._next()
        else:
            inner = token.text
        step = _joined(before, relation, inner, skip)
        if not isinstance(step, GroupPattern):
            self._add_condition(step, token)
        self._at_token(self._quantifier, step, token)
        return step

    def _not(self, before: Pattern | None, relation: str) -> Pattern:
        sign = self._next()
        name = self._expect("name", "the name of a step that must not happen")
        if before is None:
            self._fail("A pattern cannot begin with a NOT", sign)
        if relation == "..>":
            self._fail("'..>' has no meaning before a NOT", sign)
        found: list[Pattern] = []
        add = before.not_next if relation == "->" else before.not_followed_by
        self._at_token(lambda _: found.append(add(name.text)), before, name)
        self._add_condition(found[0], name)
        return found[0]

    def _quantifier(self, step: Pattern) -> None:
        match = _QUANTIFIER.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        sign, least = match["sign"], match["least"]
        if sign in ("+", "*"):
            step.one_or_more()
        elif least is not None:
            count = int(least)
            if match["comma"] is None:
                step.times(count)
            elif match["most"] is None:
                step.times_or_more(count)
            else:
                step.times(count, int(match["most"]))
        if sign in ("?", "*") or match["optional"]:
            step.optional()
        if match["inner"]:
            (step.consecutive if match["inner"] == "!" else step.allow_combinations)()
        if match["greedy"]:
            step.greedy()
        if self.peek_is("until"):
            self._until(step)

    def _until(self, step: Pattern) -> None:
        self._next()
        self._expect("sign", "'('", "(")
        name = self._expect("name", "the name of a condition")
        self._expect("sign", "')'", ")")
        if name.text not in self._conditions:
            self._fail(f"There is no condition {name.text!r}", name)
        self.used.add(name.text)
        step.until(self._conditions[name.text])

    def _add_condition(self, step: Pattern, token: _Token) -> None:
        if token.text in self._conditions:
            self.used.add(token.text)
            step.where(self._conditions[token.text])

    # -- tokens ---------------------------------------------------------------------------------------------------

    def _peek(self) -> _Token | None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            rest = self._text[self._at :]
            if rest.strip():
                column = self._at + len(rest) - len(rest.lstrip())
                raise PatternSyntaxError(f"Unexpected {self._text[column]!r}", self._text, column + 1)
            return None
        kind = match.lastgroup or ""
        return _Token(kind, match[kind], match.start(kind), match.end(kind))

    def _next(self) -> _Token:
        token = self._peek()
        assert token is not None
        self._at = token.end
        return token

    def _expect(self, kind: str, what: str, text: str | None = None) -> _Token:
        token = self._peek()
        if token is None or token.kind != kind or (text is not None and token.text != text):
            self._fail(f"Expected {what}", token)
        return self._next()

    def _at_token(self, call: Any, step: Pattern, token: _Token) -> None:
        """Run a call of the pattern API; show its errors at the token."""
        try:
            call(step)
        except PatternSyntaxError:
            raise
        except MalformedPatternException as error:
            raise PatternSyntaxError(error.message, self._text, token.start + 1) from error

    def _fail(self, message: str, token: _Token | None) -> NoReturn:
        column = len(self._text.rstrip()) if token is None else token.start
        raise PatternSyntaxError(message, self._text, column + 1)


def _joined(before: Pattern | None, relation: str, step: str | Pattern, skip: AfterMatchSkipStrategy | None) -> Pattern:
    if before is None:
        return Pattern.begin(step, skip)
    if relation == "->":
        return before.next(step)
    return before.followed_by_any(step) if relation == "..>" else before.followed_by(step)
