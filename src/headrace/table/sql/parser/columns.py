"""Schema declarations: columns, keys, watermarks, options, partitions."""

from __future__ import annotations

from headrace.table.sql.parser.queries import Queries
from headrace.table.sql.syntax.node import Name
from headrace.table.sql.syntax.statements import PartitionValue
from headrace.table.sql.syntax.tables import (
    ColumnName,
    ColumnPlace,
    ComputedColumn,
    Constraint,
    Distribution,
    Element,
    MetadataColumn,
    Options,
    PhysicalColumn,
    Watermark,
)


class Columns(Queries):
    """Rules for schemas and the clauses around them."""

    # -- elements -------------------------------------------------------------------------------------------------

    def elements(self, placed: bool = False) -> tuple[Element, ...]:
        """The schema in parentheses. `placed`: columns may have FIRST or AFTER."""
        self.need("(")
        if not placed and self._only_names():
            names = self.separated(lambda: ColumnName(self.name(), position=self.token.position))
            self.need(")")
            return names
        found = self.separated(lambda: self.element(placed))
        self.need(")")
        return found

    def _only_names(self) -> bool:
        """Return whether this is `(a, b)`, and not a schema with types."""
        return self.is_identifier() and self._after_name() in (",", ")")

    def _after_name(self) -> str:
        offset = 1
        while self.peek(offset).key == "." and self.is_identifier(self.peek(offset + 1)):
            offset += 2
        return self.peek(offset).key

    def element(self, placed: bool = False) -> Element:
        """A column, a key or a watermark."""
        if self.at("PRIMARY", "UNIQUE", "CONSTRAINT"):
            return self.table_constraint()
        if self.at("WATERMARK"):
            return self.watermark()
        return self.column(placed)

    def column(self, placed: bool = False) -> Element:
        """A physical, computed or metadata column."""
        position = self.token.position
        name = self.name()
        if self.take("AS"):
            value = self.expression()
            return ComputedColumn(name, value, self.comment(), self._place(placed), position=position)
        kind = self.nullable_type()
        if self.take("METADATA"):
            key = self.string() if self.take("FROM") else None
            virtual = self.take("VIRTUAL")
            return MetadataColumn(name, kind, key, virtual, self.comment(), self._place(placed), position=position)
        constraint = self._column_constraint() if self.at("PRIMARY", "UNIQUE", "CONSTRAINT") else None
        return PhysicalColumn(name, kind, constraint, self.comment(), self._place(placed), position=position)

    def comment(self) -> str | None:
        """`COMMENT '...'`, if it is there."""
        return self.string() if self.take("COMMENT") else None

    def _place(self, placed: bool) -> ColumnPlace | None:
        position = self.token.position
        if not placed:
            return None
        if self.take("FIRST"):
            return ColumnPlace(position=position)
        return ColumnPlace(self.name(), position=position) if self.take("AFTER") else None

    def _key_kind(self) -> str:
        if self.take("UNIQUE"):
            return "UNIQUE"
        self.need("PRIMARY", "KEY")
        return "PRIMARY KEY"

    def _enforcement(self) -> bool | None:
        if self.take("NOT", "ENFORCED"):
            return False
        return True if self.take("ENFORCED") else None

    def _column_constraint(self) -> Constraint:
        position = self.token.position
        name = self.identifier() if self.take("CONSTRAINT") else None
        kind = self._key_kind()
        return Constraint(kind, (), name, self._enforcement(), position=position)

    def table_constraint(self) -> Constraint:
        """`[CONSTRAINT name] PRIMARY KEY (columns) [[NOT] ENFORCED]`."""
        position = self.token.position
        name = self.identifier() if self.take("CONSTRAINT") else None
        kind = self._key_kind()
        return Constraint(kind, self.identifiers(), name, self._enforcement(), position=position)

    def watermark(self) -> Watermark:
        """`WATERMARK FOR column AS expression`."""
        position = self.need("WATERMARK", "FOR")
        column = self.name()
        self.need("AS")
        return Watermark(column, self.expression(), position=position)

    # -- clauses --------------------------------------------------------------------------------------------------

    def options(self) -> Options:
        """`('key' = 'value', ...)`."""
        self.need("(")
        found = () if self.at(")") else self.separated(self._option)
        self.need(")")
        return found

    def _option(self) -> tuple[str, str]:
        key = self._option_text()
        self.need("=")
        return key, self._option_text()

    def _option_text(self) -> str:
        if self.token.kind not in ("string", "prefixed"):
            self.wanted("a string")
        value = self.text_literal().value
        return value if isinstance(value, str) else str(value)

    def with_options(self) -> Options:
        """`WITH (...)`, if it is there."""
        return self.options() if self.take("WITH") else ()

    def option_keys(self) -> tuple[str, ...]:
        """`('key', ...)`."""
        self.need("(")
        found = () if self.at(")") else self.separated(self.strings)
        self.need(")")
        return found

    def distribution(self) -> Distribution:
        """`BY HASH(a) INTO n BUCKETS`, after DISTRIBUTED or DISTRIBUTION."""
        position = self.token.position
        kind = None
        columns: tuple[str, ...] = ()
        buckets = None
        if self.take("BY"):
            kind = self.take_any("HASH", "RANGE")
            columns = self.identifiers()
            if self.take("INTO"):
                buckets = self.integer()
                self.need("BUCKETS")
        else:
            self.need("INTO")
            buckets = self.integer()
            self.need("BUCKETS")
        return Distribution(kind, columns, buckets, position=position)

    def partition(self, open_ended: bool = False) -> tuple[PartitionValue, ...]:
        """`(column = value, ...)`, after PARTITION. `open_ended`: a column may have no value."""
        return self.parenthesized(lambda: self._partition_value(open_ended))

    def _partition_value(self, open_ended: bool) -> PartitionValue:
        name = self.identifier()
        if open_ended and not self.at("="):
            return name, None
        self.need("=")
        value = self.literal()
        return name, value if value is not None else self.wanted("a constant")

    def columns_of_names(self) -> tuple[Name, ...]:
        """Names in parentheses."""
        return self.parenthesized(self.name)
