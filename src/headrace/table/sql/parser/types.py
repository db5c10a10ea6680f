"""Data types and the qualifiers of intervals."""

from __future__ import annotations

from headrace.table.sql.parser.names import Names
from headrace.table.sql.syntax.expressions import IntervalQualifier
from headrace.table.sql.syntax.types import DataType, TypeField

_PLAIN = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INT": "INTEGER",
    "INTEGER": "INTEGER",
    "BIGINT": "BIGINT",
    "REAL": "REAL",
    "FLOAT": "FLOAT",
    "DATE": "DATE",
    "STRING": "STRING",
    "BYTES": "BYTES",
    "VARIANT": "VARIANT",
    "BITMAP": "BITMAP",
    "ANY": "ANY",
}
_LENGTH = {"VARCHAR": "VARCHAR", "CHAR": "CHAR", "CHARACTER": "CHAR", "BINARY": "BINARY", "VARBINARY": "VARBINARY"}
_DECIMAL = ("DECIMAL", "DEC", "NUMERIC")
_UNITS = {
    "YEAR": "YEAR",
    "YEARS": "YEAR",
    "QUARTER": "QUARTER",
    "QUARTERS": "QUARTER",
    "MONTH": "MONTH",
    "MONTHS": "MONTH",
    "WEEK": "WEEK",
    "WEEKS": "WEEK",
    "DAY": "DAY",
    "DAYS": "DAY",
    "HOUR": "HOUR",
    "HOURS": "HOUR",
    "MINUTE": "MINUTE",
    "MINUTES": "MINUTE",
    "SECOND": "SECOND",
    "SECONDS": "SECOND",
}
_ENDS = {"YEAR": ("MONTH",), "DAY": ("HOUR", "MINUTE", "SECOND"), "HOUR": ("MINUTE", "SECOND"), "MINUTE": ("SECOND",)}


class Types(Names):
    """Rules for types."""

    def data_type(self) -> DataType:
        """A type without nullability, as in a cast, with the suffixes ARRAY and MULTISET."""
        position = self.token.position
        found = self._bare_type()
        while (suffix := self.take_any("ARRAY", "MULTISET")) is not None:
            found = DataType(suffix, (found,), position=position)
        return found

    def nullable_type(self) -> DataType:
        """A type with optional NULL or NOT NULL, as in a column."""
        found = self.data_type()
        nullable = self.nullability()
        if nullable is None:
            return found
        return DataType(found.name, found.arguments, nullable, position=found.position)

    def nullability(self) -> bool | None:
        """`NULL` or `NOT NULL`, if it is there."""
        if self.take("NOT", "NULL"):
            return False
        return True if self.take("NULL") else None

    def _bare_type(self) -> DataType:
        token = self.token
        key, position = token.key, token.position
        if token.kind == "word":
            if key in _PLAIN:
                self.advance()
                return DataType(_PLAIN[key], position=position)
            if key in _LENGTH:
                return self._with_length(position)
            if key in _DECIMAL:
                self.advance()
                return DataType("DECIMAL", self._precision_and_scale(), position=position)
            if key == "DOUBLE":
                self.advance()
                self.take("PRECISION")
                return DataType("DOUBLE", position=position)
            if key in ("TIME", "TIMESTAMP"):
                return self._time(position)
            if key == "TIMESTAMP_LTZ":
                self.advance()
                return DataType("TIMESTAMP_LTZ", self._precision(), position=position)
            if key == "RAW":
                return self._raw(position)
            nested = self._nested(key, position)
            if nested is not None:
                return nested
            if key == "GEOMETRY":
                self.fail("The type GEOMETRY is not supported")
        if not self.is_identifier():
            self.wanted("a type")
        return DataType("USER", self.name(), position=position)

    def _nested(self, key: str, position: int) -> DataType | None:
        following = self.peek().key
        if key in ("ARRAY", "MULTISET") and following == "<":
            self.advance()
            return DataType(key, self._angle(1), position=position)
        if key == "MAP" and following == "<":
            self.advance()
            return DataType(key, self._angle(2), position=position)
        if key == "ROW" and following == "<>":
            self.advance()
            self.advance()
            return DataType(key, position=position)
        if key == "ROW" and following in ("<", "("):
            self.advance()
            return DataType(key, self._fields("<", ">") if self.at("<") else self._fields("(", ")"), position=position)
        if key == "STRUCTURED":
            self.advance()
            self.need("<")
            name = self.string()
            fields = self.separated(self._field) if self.take(",") else ()
            self.need(">")
            return DataType(key, (name, *fields), position=position)
        return None

    def _angle(self, count: int) -> tuple[DataType, ...]:
        self.need("<")
        found = [self.nullable_type()]
        for _ in range(count - 1):
            self.need(",")
            found.append(self.nullable_type())
        self.need(">")
        return tuple(found)

    def _fields(self, opening: str, closing: str) -> tuple[TypeField, ...]:
        self.need(opening)
        fields = () if self.at(closing) else self.separated(self._field)
        self.need(closing)
        return fields

    def _field(self) -> TypeField:
        position = self.token.position
        name = self.identifier()
        kind = self.nullable_type()
        comment = self.string() if self.token.kind == "string" else None
        return TypeField(name, kind, comment, position=position)

    def _with_length(self, position: int) -> DataType:
        word = self.advance().key
        name = _LENGTH[word]
        if word in ("CHAR", "CHARACTER", "BINARY") and self.take("VARYING"):
            name = "VARBINARY" if word == "BINARY" else "VARCHAR"
        found = DataType(name, self._precision(), position=position)
        if "CHAR" in name and self.take("CHARACTER", "SET"):
            self.identifier()
        return found

    def _time(self, position: int) -> DataType:
        name = self.advance().key
        precision = self._precision()
        if self.take("WITHOUT"):
            self.need("TIME", "ZONE")
        elif self.take("WITH"):
            self.need("LOCAL", "TIME", "ZONE")
            name = "TIMESTAMP_LTZ" if name == "TIMESTAMP" else "TIME_LTZ"
        return DataType(name, precision, position=position)

    def _raw(self, position: int) -> DataType:
        self.advance()
        self.need("(")
        class_name = self.string()
        self.need(",")
        serializer = self.string()
        self.need(")")
        return DataType("RAW", (class_name, serializer), position=position)

    def _precision(self) -> tuple[int, ...]:
        if not self.take("("):
            return ()
        precision = self.integer()
        self.need(")")
        return (precision,)

    def _precision_and_scale(self) -> tuple[int, ...]:
        if not self.take("("):
            return ()
        found = [self.integer()]
        if self.take(","):
            found.append(self.integer())
        self.need(")")
        return tuple(found)

    # -- intervals ------------------------------------------------------------------------------------------------

    def at_interval_unit(self) -> bool:
        """Return whether a unit of an interval comes next."""
        return self.token.kind == "word" and self.token.key in _UNITS

    def interval_qualifier(self, only_start: bool = False) -> IntervalQualifier:
        """`DAY(3) TO SECOND(6)`; with `only_start`, a single unit."""
        position = self.token.position
        if not self.at_interval_unit():
            self.wanted("a unit of time")
        start = _UNITS[self.advance().key]
        start_precision = end_precision = None
        end = None
        if self.take("("):
            start_precision = self.integer()
            if start == "SECOND" and self.take(","):
                end_precision = self.integer()
            self.need(")")
        if not only_start and self.token.key == "TO" and start in _ENDS:
            self.advance()
            ends = _ENDS[start]
            if not (self.at_interval_unit() and _UNITS[self.token.key] in ends):
                self.wanted(" or ".join(ends))
            end = _UNITS[self.advance().key]
            if end == "SECOND" and self.take("("):
                end_precision = self.integer()
                self.need(")")
        return IntervalQualifier(start, start_precision, end, end_precision, position=position)
