r"""Java's regular expressions, rewritten for Python's `re`.

Differences that this module removes: `\d \w \s` are ASCII, `.` and `$` know five line ends, `\Q...\E`, `\p{...}`, `\h`,
`\R`, `\x{...}`, `\0nn`, `\z`, `\Z`, named groups, flags in the middle, and unions and intersections of classes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from headrace.table.functions.regex_classes import ESCAPES, property_class

_ENDS = "\\n\\r\\x85\\u2028\\u2029"
_END = f"(?:\\r\\n|[{_ENDS}])"
_CONTROLS = {"t": "\\t", "n": "\\n", "r": "\\r", "f": "\\f", "a": "\\x07", "e": "\\x1b"}
_FLAGS = re.compile(r"\?([imsxdu]*)(?:-([imsxdu]+))?([:)])")
_NAME = re.compile(r"\?<([a-zA-Z][a-zA-Z0-9]*)>")
_QUANTIFIER = re.compile(r"\{(\d+)(,(\d*))?\}")
_OCTAL = re.compile(r"[0-3]?[0-7]{1,2}")
_ASCII = 128


class PatternError(ValueError):
    """A pattern is not a regular expression of Java."""


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    r"""Return the compiled form of a Java pattern; raise PatternError if it is invalid.

    >>> compiled(r"(?<year>\d{4})-\Q.\E").pattern
    '(?P<year>[0-9]{4})-\\.'
    """
    try:
        return re.compile(_Translation(pattern).run(), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"Invalid regular expression {pattern!r}: {error}") from None


class _Translation:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags: set[str] = set()

    def run(self) -> str:
        result = self._alternatives()
        if self.at < len(self.pattern):
            raise PatternError(f"Unmatched closing ')' in {self.pattern!r}")
        return result

    def _alternatives(self) -> str:
        """Translate up to the end of the group. Flags set inside end with the group."""
        saved = set(self.flags)
        parts: list[str] = []
        opened: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            match = _FLAGS.match(self.pattern, self.at + 1) if self.pattern[self.at] == "(" else None
            if match is not None and match[3] == ")":
                self.at = match.end()
                if flags := self._set_flags(match[1], match[2]):
                    opened.append(f"({flags}:")
                    parts.append(opened[-1])
            elif self.pattern[self.at] == "|":
                # Flags count up to the end of the group, in all alternatives that follow.
                self.at += 1
                parts.append(")" * len(opened) + "|" + "".join(opened))
            else:
                parts.append(self._next())
        self.flags = saved
        return "".join(parts) + ")" * len(opened)

    def _set_flags(self, on: str, off: str | None) -> str:
        self.flags |= set(on)
        self.flags -= set(off or "")
        known_on = "".join(sorted(set(on) & set("imsx")))
        known_off = "".join(sorted(set(off or "") & set("imsx")))
        if not known_on and not known_off:
            return ""
        return f"?{known_on}" + (f"-{known_off}" if known_off else "")

    def _next(self) -> str:
        character = self.pattern[self.at]
        self.at += 1
        match character:
            case "\\":
                return self._escape()
            case "[":
                return self._class()
            case "(":
                return self._group()
            case ".":
                return "." if "s" in self.flags else ("[^\\n]" if "d" in self.flags else f"[^{_ENDS}]")
            case "$":
                return f"(?={_END}|\\Z)" if "m" in self.flags else f"(?={_END}?\\Z)"
            case "^":
                return f"(?:\\A|(?<=[{_ENDS}])(?!\\Z))" if "m" in self.flags else "\\A"
            case "{":
                found = _QUANTIFIER.match(self.pattern, self.at - 1)
                if found is None or self.at == 1:
                    raise PatternError(f"Illegal repetition in {self.pattern!r}")
                self.at = found.end()
                return found[0]
            case "#" if "x" not in self.flags:
                return "\\#"
            case _:
                return character

    def _group(self) -> str:
        if (match := _NAME.match(self.pattern, self.at)) is not None:
            self.at = match.end()
            return f"(?P<{match[1]}>{self._inside()}"
        if (match := _FLAGS.match(self.pattern, self.at)) is not None and match[3] == ":":
            self.at = match.end()
            saved = set(self.flags)
            opened = self._set_flags(match[1], match[2]) or "?"
            inside = self._inside()
            self.flags = saved
            return f"({opened}:{inside}"
        for prefix in ("?=", "?!", "?<=", "?<!", "?>", "?:"):
            if self.pattern.startswith(prefix, self.at):
                self.at += len(prefix)
                return f"({prefix}{self._inside()}"
        if self.pattern.startswith("?", self.at):
            raise PatternError(f"Unknown group in {self.pattern!r}")
        return f"({self._inside()}"

    def _inside(self) -> str:
        inside = self._alternatives()
        if self.at >= len(self.pattern):
            raise PatternError(f"Unclosed group in {self.pattern!r}")
        self.at += 1
        return inside + ")"

    def _escape(self) -> str:
        """Translate an escape outside of a class."""
        if self.at >= len(self.pattern):
            raise PatternError(f"Nothing follows the last backslash of {self.pattern!r}")
        character = self.pattern[self.at]
        match character:
            case "Q":
                return "".join(map(re.escape, self._quoted()))
            case "A" | "b" | "B":
                self.at += 1
                return f"\\{character}"
            case "z":
                self.at += 1
                return "\\Z"
            case "Z":
                self.at += 1
                return f"(?={_END}?\\Z)"
            case "G":
                self.at += 1
                return "\\A"
            case "R":
                self.at += 1
                return f"(?:\\r\\n|[\\n\\x0b\\f{_ENDS[2:]}])"
            case "k":
                match_ = re.compile(r"k<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, self.at)
                if match_ is None:
                    raise PatternError(f"A group's name must follow \\k in {self.pattern!r}")
                self.at = match_.end()
                return f"(?P={match_[1]})"
        if character in "123456789":
            self.at += 1
            return f"(?:\\{character})"
        inside = self._class_escape()
        return inside if len(inside) == 1 or inside in _CONTROLS.values() else f"[{inside}]"

    def _quoted(self) -> str:
        end = self.pattern.find("\\E", self.at)
        quoted = self.pattern[self.at + 1 : end if end >= 0 else None]
        self.at = end + 2 if end >= 0 else len(self.pattern)
        return quoted

    def _class_escape(self) -> str:
        """Translate an escape to the inside of a class."""
        character = self.pattern[self.at]
        self.at += 1
        if character.lower() in ESCAPES and character in "dwshvDWSHV":
            inside = ESCAPES[character.lower()]
            return inside if character.islower() else _complement(inside)
        if character in "pP":
            return self._property(negated=character == "P")
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in "xu":
            return self._code_point(character)
        if character == "0":
            found = _OCTAL.match(self.pattern, self.at)
            if found is None:
                raise PatternError(f"Illegal octal escape in {self.pattern!r}")
            self.at = found.end()
            return _literal(int(found[0], 8))
        if character == "c" and self.at < len(self.pattern):
            self.at += 1
            return _literal(ord(self.pattern[self.at - 1]) ^ 64)
        if character.isascii() and character.isalpha():
            raise PatternError(f"Illegal escape \\{character} in {self.pattern!r}")
        return f"\\{character}" if ord(character) < _ASCII and not character.isdigit() else character

    def _property(self, *, negated: bool) -> str:
        if self.pattern.startswith("{", self.at):
            end = self.pattern.find("}", self.at)
            name = self.pattern[self.at + 1 : end]
            self.at = end + 1
        else:
            name = self.pattern[self.at : self.at + 1]
            self.at += 1
        inside = property_class(name)
        if inside is None:
            raise PatternError(f"Unknown character property {name!r} in {self.pattern!r}")
        return _complement(inside) if negated else inside

    def _code_point(self, kind: str) -> str:
        pattern = r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})" if kind == "x" else r"([0-9a-fA-F]{4})"
        found = re.compile(pattern).match(self.pattern, self.at)
        if found is None:
            raise PatternError(f"Illegal escape \\{kind} in {self.pattern!r}")
        self.at = found.end()
        return _literal(int(next(each for each in found.groups() if each), 16))

    def _class(self) -> str:
        """Translate a class after its `[`. Intersections become lookaheads."""
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        operands: list[list[str]] = [[]]
        nested: list[list[str]] = [[]]
        first = True
        while True:
            if self.at >= len(self.pattern):
                raise PatternError(f"Unclosed character class in {self.pattern!r}")
            character = self.pattern[self.at]
            if character == "]" and not first:
                self.at += 1
                break
            first = False
            if self.pattern.startswith("&&", self.at):
                self.at += 2
                operands.append([])
                nested.append([])
            elif character == "[":
                self.at += 1
                nested[-1].append(self._class())
            elif self.pattern.startswith("\\Q", self.at):
                self.at += 1
                operands[-1].append("".join(_literal(ord(each)) for each in self._quoted()))
            elif character == "\\":
                self.at += 1
                operands[-1].append(self._class_escape())
            else:
                self.at += 1
                operands[-1].append(f"\\{character}" if character in "[&~|" else character)
        sets = [_union("".join(own), inner) for own, inner in zip(operands, nested, strict=True) if own or inner]
        if len(sets) == 1 and sets[0].startswith("[") and not nested[0]:
            return f"[{'^' if negated else ''}{sets[0][1:]}"
        matching = "".join(f"(?={each})" for each in sets[:-1]) + sets[-1]
        return f"(?:(?!{matching})[\\s\\S])" if negated else f"(?:{matching})"


def _union(own: str, nested: list[str]) -> str:
    choices = ([f"[{own}]"] if own else []) + nested
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


def _literal(code: int) -> str:
    return f"\\x{code:02x}" if code < _ASCII else f"\\U{code:08x}"


@lru_cache(maxsize=64)
def _complement(inside: str) -> str:
    """Return the inside of a class of all characters that are not in another."""
    found: list[tuple[int, int]] = []
    token = re.compile(r"\\U(.{8})|\\u(.{4})|\\x(..)|\\(.)|(.)", re.DOTALL)
    named = {"t": 9, "n": 10, "f": 12, "r": 13}
    at = 0

    def read() -> int:
        nonlocal at
        match = token.match(inside, at)
        assert match is not None
        at = match.end()
        digits = match[1] or match[2] or match[3]
        if digits:
            return int(digits, 16)
        return named.get(match[4], ord(match[4])) if match[4] else ord(match[5])

    while at < len(inside):
        first = last = read()
        if inside.startswith("-", at) and at + 1 < len(inside):
            at += 1
            last = read()
        found.append((first, last))
    parts, next_code = [], 0
    for first, last in sorted(found):
        if first > next_code:
            parts.append((next_code, first - 1))
        next_code = max(next_code, last + 1)
    if next_code <= 0x10FFFF:
        parts.append((next_code, 0x10FFFF))
    return "".join(f"{_wide(first)}-{_wide(last)}" for first, last in parts)


def _wide(code: int) -> str:
    return f"\\U{code:08x}"
