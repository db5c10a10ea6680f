"""MATCH_RECOGNIZE: patterns over the rows of a relation."""

from __future__ import annotations

from headrace.table.sql.parser.relations import Relations
from headrace.table.sql.syntax.expressions import Expression
from headrace.table.sql.syntax.queries import MatchRecognize, Relation, SelectItem

_Pattern = tuple[object, ...]


class Patterns(Relations):
    """Rules for MATCH_RECOGNIZE."""

    def match_recognize(self, relation: Relation) -> Relation:
        """The clauses in the order of the SQL standard."""
        position = self.advance().position
        self.need("(")
        partition_by = self.separated(self.expression) if self.take("PARTITION", "BY") else ()
        order_by = self.order_by() if self.at("ORDER") else ()
        measures = self.separated(self._measure) if self.take("MEASURES") else ()
        rows = self._rows_per_match()
        after = self._after_match()
        self.need("PATTERN", "(")
        start = self.take("^")
        pattern = self._alternatives()
        end = self.take("$")
        self.need(")")
        within = self.interval() if self.take("WITHIN") else None
        subsets = self.separated(self._subset) if self.take("SUBSET") else ()
        self.need("DEFINE")
        definitions = self.separated(self._definition)
        self.need(")")
        return MatchRecognize(
            relation,
            partition_by,
            order_by,
            measures,
            rows,
            after,
            pattern,
            start,
            end,
            within,
            subsets,
            definitions,
            position=position,
        )

    def _measure(self) -> SelectItem:
        position = self.token.position
        value = self.expression()
        self.need("AS")
        return SelectItem(value, self.identifier(), position=position)

    def _rows_per_match(self) -> str | None:
        if self.take("ONE"):
            self.need("ROW", "PER", "MATCH")
            return "ONE ROW"
        if self.take("ALL"):
            self.need("ROWS", "PER", "MATCH")
            return "ALL ROWS"
        return None

    def _after_match(self) -> tuple[str, ...] | None:
        if not self.take("AFTER"):
            return None
        self.need("MATCH", "SKIP")
        if self.take("PAST"):
            self.need("LAST", "ROW")
            return ("PAST LAST ROW",)
        self.need("TO")
        if self.take("NEXT", "ROW"):
            return ("NEXT ROW",)
        if self.at("FIRST", "LAST") and self.is_identifier(self.peek()):
            where = self.advance().key
            return (where, self.identifier())
        return ("LAST", self.identifier())

    def _subset(self) -> tuple[str, tuple[str, ...]]:
        name = self.identifier()
        self.need("=")
        return name, self.identifiers()

    def _definition(self) -> tuple[str, Expression]:
        name = self.identifier()
        self.need("AS")
        return name, self.expression()

    # -- the pattern ----------------------------------------------------------------------------------------------

    def _alternatives(self) -> _Pattern:
        parts = [self._sequence()]
        while self.take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else ("ALTERNATIVES", tuple(parts))

    def _sequence(self) -> _Pattern:
        parts = [self._factor()]
        while self.is_identifier() or self.at("(", "{-", "PERMUTE"):
            parts.append(self._factor())
        return parts[0] if len(parts) == 1 else ("SEQUENCE", tuple(parts))

    def _factor(self) -> _Pattern:
        part = self._element()
        low: int | None
        high: int | None
        if self.take("*"):
            low, high = 0, None
        elif self.take("+"):
            low, high = 1, None
        elif self.take("?"):
            low, high = 0, 1
        elif self.take("{"):
            low = self.integer() if self.token.kind == "integer" else None
            if self.take(","):
                high = self.integer() if self.token.kind == "integer" else None
                if low is None and high is None:
                    self.wanted("an integer")
            else:
                if low is None:
                    self.wanted("an integer")
                high = low
            self.need("}")
        else:
            return part
        reluctant = self.take("?")
        return ("TIMES", part, low or 0, high, not reluctant)

    def _element(self) -> _Pattern:
        if self.take("("):
            found = self._alternatives()
            self.need(")")
            return found
        if self.take("{-"):
            found = self._alternatives()
            self.need("-}")
            return ("EXCLUDE", found)
        if self.take("PERMUTE"):
            return ("PERMUTE", self.parenthesized(self._alternatives))
        return ("VARIABLE", self.identifier())
