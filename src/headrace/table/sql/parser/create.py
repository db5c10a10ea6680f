"""CREATE statements, and REPLACE TABLE."""

from __future__ import annotations

from headrace.table.sql.parser.columns import Columns
from headrace.table.sql.syntax.expressions import Expression
from headrace.table.sql.syntax.statements import (
    CreateFunction,
    CreateMaterializedTable,
    CreateModel,
    CreateObject,
    CreateTable,
    CreateView,
    Statement,
)
from headrace.table.sql.syntax.tables import ColumnName, Distribution, Element, LikeClause, Options

_LANGUAGES = ("JAVA", "SCALA", "PYTHON", "SQL")
_LIKE_RULES = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_LIKE_PARTS = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")


class Create(Columns):
    """Rules for CREATE."""

    def create(self) -> Statement:
        """`CREATE ...`."""
        position = self.need("CREATE")
        replace = or_alter = False
        if self.take("OR"):
            word = self.need_any("REPLACE", "ALTER")
            replace, or_alter = word == "REPLACE", word == "ALTER"
        temporary = self.take("TEMPORARY")
        if self.at("MATERIALIZED"):
            if temporary:
                self.fail("A materialized table cannot be temporary")
            if replace:
                self.fail("Write CREATE OR ALTER MATERIALIZED TABLE")
            return self._materialized_table(position, or_alter)
        if or_alter:
            self.need("MATERIALIZED")
        if self.take("SYSTEM"):
            if not temporary:
                self.fail("Only temporary objects can be SYSTEM objects; write CREATE TEMPORARY SYSTEM")
            if self.take("FUNCTION"):
                return self._function(position, temporary, True, replace)
            self.need("CONNECTION")
            return self._object("CONNECTION", position, temporary, True)
        if self.take("TABLE"):
            return self._table(position, temporary, replace)
        if self.take("VIEW"):
            return self._view(position, temporary, replace)
        if self.take("FUNCTION"):
            return self._function(position, temporary, False, replace)
        if self.take("MODEL"):
            return self._model(position, temporary)
        if self.take("CONNECTION"):
            return self._object("CONNECTION", position, temporary, False)
        if temporary:
            self.wanted("TABLE")
        kind = self.need_any("CATALOG", "DATABASE")
        return self._object(kind, position, False, False)

    # -- tables ---------------------------------------------------------------------------------------------------

    def _table(self, position: int, temporary: bool, replace: bool) -> Statement:
        if_not_exists = self.if_not_exists()
        name = self.name()
        layout = self._layout()
        like = self._like_clause() if self.at("LIKE") else None
        query = self.query() if like is None and self.take("AS") else None
        if query is None and any(isinstance(element, ColumnName) for element in layout[0]):
            self.wanted("AS")
        return CreateTable(name, *layout, like, query, temporary, if_not_exists, replace, position=position)

    def _layout(self) -> tuple[tuple[Element, ...], str | None, Distribution | None, tuple[str, ...], Options]:
        """The clauses that all kinds of tables share: schema, comment, distribution, partitions, options."""
        elements = self.elements() if self.at("(") else ()
        comment = self.comment()
        distribution = self.distribution() if self.take("DISTRIBUTED") else None
        partitioned_by = self.identifiers() if self.take("PARTITIONED", "BY") else ()
        return elements, comment, distribution, partitioned_by, self.with_options()

    def replace_table(self) -> Statement:
        """`REPLACE TABLE ... AS query`."""
        position = self.need("REPLACE", "TABLE")
        found = self._table(position, False, True)
        assert isinstance(found, CreateTable)
        if found.query is None:
            self.wanted("AS")
        return found

    def _like_clause(self) -> LikeClause:
        position = self.need("LIKE")
        table = self.name()
        rules: list[tuple[str, str]] = []
        if self.take("("):
            while not self.at(")"):
                rules.append((self.need_any(*_LIKE_RULES), self.need_any(*_LIKE_PARTS)))
            self.need(")")
        return LikeClause(table, tuple(rules), position=position)

    def _materialized_table(self, position: int, or_alter: bool) -> Statement:
        self.need("MATERIALIZED", "TABLE")
        name = self.name()
        layout = self._layout()
        freshness = self.freshness() if self.at("FRESHNESS") else None
        refresh_mode = self.refresh_mode() if self.at("REFRESH_MODE") else None
        start_mode = self.start_mode() if self.at("START_MODE") else None
        self.need("AS")
        return CreateMaterializedTable(
            name, *layout, freshness, refresh_mode, start_mode, self.query(), or_alter, position=position
        )

    def freshness(self) -> Expression:
        """`FRESHNESS = INTERVAL ...`."""
        self.need("FRESHNESS", "=")
        return self.interval()

    def refresh_mode(self) -> str:
        """`REFRESH_MODE = FULL` or `CONTINUOUS`."""
        self.need("REFRESH_MODE", "=")
        return self.need_any("FULL", "CONTINUOUS")

    def start_mode(self) -> tuple[str, Expression | None]:
        """`START_MODE = FROM_BEGINNING` or another start mode."""
        self.need("START_MODE", "=")
        mode = self.identifier().upper()
        value = None
        if self.take("("):
            value = self.expression()
            self.need(")")
        return mode, value

    # -- the others -----------------------------------------------------------------------------------------------

    def _view(self, position: int, temporary: bool, replace: bool) -> Statement:
        if_not_exists = self.if_not_exists()
        name = self.name()
        columns = self.identifiers() if self.at("(") else ()
        comment = self.comment()
        self.need("AS")
        return CreateView(name, columns, self.query(), comment, temporary, if_not_exists, replace, position=position)

    def _object(self, kind: str, position: int, temporary: bool, system: bool) -> Statement:
        if_not_exists = self.if_not_exists()
        name = (self.identifier(),) if kind == "CATALOG" else self.name()
        comment = self.comment()
        if kind == "CONNECTION" and not self.at("WITH"):
            self.need("WITH")
        options: Options = self.with_options()
        return CreateObject(kind, name, comment, options, if_not_exists, temporary, system, position=position)

    def _function(self, position: int, temporary: bool, system: bool, replace: bool) -> Statement:
        if_not_exists = self.if_not_exists()
        name = (self.identifier(),) if system else self.name()
        self.need("AS")
        class_name = self.string()
        language = self.language()
        resources: tuple[tuple[str, str], ...] = ()
        if self.take("USING"):
            resources = self.separated(self._resource)
        options = self.with_options()
        return CreateFunction(
            name, class_name, language, resources, options, if_not_exists, temporary, system, replace, position=position
        )

    def language(self) -> str | None:
        """`LANGUAGE PYTHON`, if it is there."""
        return self.need_any(*_LANGUAGES) if self.take("LANGUAGE") else None

    def _resource(self) -> tuple[str, str]:
        kind = self.need_any("JAR", "FILE", "ARCHIVE", "ARTIFACT")
        return kind, self.string()

    def _model(self, position: int, temporary: bool) -> Statement:
        if_not_exists = self.if_not_exists()
        name = self.name()
        inputs = self.elements() if self.take("INPUT") else ()
        outputs = self.elements() if self.take("OUTPUT") else ()
        comment = self.comment()
        options = self.with_options()
        query = self.query() if self.take("AS") else None
        return CreateModel(name, inputs, outputs, comment, options, query, if_not_exists, temporary, position=position)
