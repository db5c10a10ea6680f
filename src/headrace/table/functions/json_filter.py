"""The filters of JSON paths: `[?(@.price < 10 && @.category == 'fiction')]`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from headrace.table.functions.regex_translation import PatternError, compiled

_OPERATOR = re.compile(
    r"\s*(===|!==|==|=~|!=|<=|>=|<>|<|>|(?:in|nin|subsetof|anyof|noneof|contains|size|empty|all)\b)\s*", re.IGNORECASE
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_PATH_END = re.compile(r"[\s)=!<>&|,~\]]")
_MISSING: Any = object()
_CLOSERS = {"[": "]", "(": ")"}


class PathError(ValueError):
    """A path or a filter in it is malformed."""


class PathMissing(LookupError):
    """A document has no value at a definite path."""


@dataclass(frozen=True)
class Filter:
    """A condition on a value and the root of its document."""

    test: Callable[[Any, Any], bool]


def quoted_end(text: str, at: int) -> int:
    """Return the position of the quote that closes the one at `at`."""
    quote = text[at]
    end = at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if text[end] == "\\" else 1
    if end >= len(text):
        raise PathError(f"Unclosed quote at {at} in {text!r}")
    return end


def parse_filter(text: str, at: int, parse_path: Callable[[str], Any]) -> tuple[Filter, int]:
    """Parse a filter in parentheses and return it with the position behind it."""
    parser = _Parser(text, at, parse_path)
    parser.need("(")
    found = parser.either()
    parser.need(")")
    return Filter(found), parser.at


Test = Callable[[Any, Any], bool]
Operand = Callable[[Any, Any], Any]


class _Parser:
    def __init__(self, text: str, at: int, parse_path: Callable[[str], Any]) -> None:
        self.text = text
        self.at = at
        self.parse_path = parse_path

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, word: str) -> bool:
        self.skip()
        found = self.text.startswith(word, self.at)
        self.at += len(word) if found else 0
        return found

    def need(self, word: str) -> None:
        if not self.take(word):
            raise PathError(f"Expected {word!r} at {self.at} in {self.text!r}")

    def either(self) -> Test:
        tests = [self.both()]
        while self.take("||"):
            tests.append(self.both())
        return tests[0] if len(tests) == 1 else lambda value, root: any(test(value, root) for test in tests)

    def both(self) -> Test:
        tests = [self.negation()]
        while self.take("&&"):
            tests.append(self.negation())
        return tests[0] if len(tests) == 1 else lambda value, root: all(test(value, root) for test in tests)

    def negation(self) -> Test:
        if self.take("!"):
            inner = self.negation()
            return lambda value, root: not inner(value, root)
        if self.take("("):
            inner = self.either()
            self.need(")")
            return inner
        return self.comparison()

    def comparison(self) -> Test:
        left = self.operand()
        match = _OPERATOR.match(self.text, self.at)
        if match is None:
            return lambda value, root: left(value, root) is not _MISSING
        self.at = match.end()
        right = self.operand()
        compare = _COMPARISONS[match[1].lower()]
        return lambda value, root: compare(left(value, root), right(value, root))

    def operand(self) -> Operand:
        self.skip()
        start = self.text[self.at : self.at + 1]
        if start in ("'", '"'):
            end = quoted_end(self.text, self.at)
            found = re.sub(r"\\(.)", r"\1", self.text[self.at + 1 : end])
            self.at = end + 1
            return lambda value, root: found
        if start in ("@", "$"):
            return self.path()
        if start == "[":
            return self.array()
        if start == "/":
            return self.regex()
        for word, constant in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return lambda value, root, constant=constant: constant  # type: ignore[misc]
        number = _NUMBER.match(self.text, self.at)
        if number is None:
            raise PathError(f"Expected a value at {self.at} in {self.text!r}")
        self.at = number.end()
        amount = Decimal(number[0])
        return lambda value, root: amount

    def array(self) -> Operand:
        self.need("[")
        items: list[Operand] = []
        while not self.take("]"):
            items.append(self.operand())
            if not self.take(","):
                self.need("]")
                break
        return lambda value, root: [item(value, root) for item in items]

    def regex(self) -> Operand:
        end = quoted_end(self.text, self.at)
        source = self.text[self.at + 1 : end]
        flags = re.compile("[a-zA-Z]*").match(self.text, end + 1)
        assert flags is not None
        self.at = flags.end()
        try:
            pattern = compiled(f"(?{flags[0]}){source}" if flags[0] else source)
        except PatternError as error:
            raise PathError(str(error)) from None
        return lambda value, root: pattern

    def path(self) -> Operand:
        closers: list[str] = []
        start = self.at
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in ("'", '"') and closers:
                self.at = quoted_end(self.text, self.at)
            elif character in _CLOSERS:
                closers.append(_CLOSERS[character])
            elif closers and character == closers[-1]:
                closers.pop()
            elif not closers and _PATH_END.match(character):
                break
            self.at += 1
        path = self.parse_path(self.text[start : self.at])
        from_root = self.text[start] == "$"

        def read(value: Any, root: Any) -> Any:
            try:
                return path.find(root if from_root else value)
            except PathMissing:
                return _MISSING

        return read


def _number(value: Any) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def _equal(left: Any, right: Any) -> bool:
    if left is _MISSING or right is _MISSING:
        return left is right
    return (type(left) is type(right) and left == right) or (_number(left) and _number(right) and left == right)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(left: Any, right: Any) -> bool:
        comparable = (_number(left) and _number(right)) or (isinstance(left, str) and isinstance(right, str))
        return comparable and compare(left, right)

    return test


def _in(left: Any, right: Any) -> bool:
    return isinstance(right, list) and any(_equal(left, each) for each in right)


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right in left
    return _in(right, left)


def _matches(left: Any, right: Any) -> bool:
    return isinstance(right, re.Pattern) and isinstance(left, str) and right.fullmatch(left) is not None


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "===": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<>": lambda left, right: not _equal(left, right),
    "!==": lambda left, right: not _equal(left, right),
    "<": _ordered(lambda left, right: left < right),
    "<=": _ordered(lambda left, right: left <= right),
    ">": _ordered(lambda left, right: left > right),
    ">=": _ordered(lambda left, right: left >= right),
    "=~": _matches,
    "in": _in,
    "nin": lambda left, right: not _in(left, right),
    "contains": _contains,
    "all": lambda left, right: isinstance(left, list) and all(_in(each, left) for each in right),
    "subsetof": lambda left, right: isinstance(left, list) and all(_in(each, right) for each in left),
    "anyof": lambda left, right: isinstance(left, list) and any(_in(each, right) for each in left),
    "noneof": lambda left, right: isinstance(left, list) and not any(_in(each, right) for each in left),
    "size": lambda left, right: isinstance(left, (list, str)) and len(left) == right,
    "empty": lambda left, right: isinstance(left, (list, str)) and (not left) is right,
}
