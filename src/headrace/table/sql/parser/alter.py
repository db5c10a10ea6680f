"""ALTER and DROP statements."""

from __future__ import annotations

from headrace.table.sql.parser.create import Create
from headrace.table.sql.syntax.expressions import Expression, Identifier
from headrace.table.sql.syntax.node import Name
from headrace.table.sql.syntax.statements import (
    AlterAction,
    AlterFunction,
    AlterObject,
    Drop,
    PartitionValue,
    SetOption,
    Statement,
)
from headrace.table.sql.syntax.tables import Options

_WITH_IF_EXISTS = ("TABLE", "MODEL", "CONNECTION")


class Alter(Create):
    """Rules for ALTER and DROP."""

    def alter(self) -> Statement:
        """`ALTER ...`."""
        position = self.need("ALTER")
        if self.at("SYSTEM", "SESSION"):
            return self._scoped_option(position)
        temporary = self.take("TEMPORARY")
        if temporary or self.at("FUNCTION"):
            return self._alter_function(position, temporary)
        if self.take("MATERIALIZED"):
            self.need("TABLE")
            return AlterObject("MATERIALIZED TABLE", self.name(), self._materialized_action(), position=position)
        kind = self.need_any("TABLE", "VIEW", "DATABASE", "CATALOG", "MODEL", "CONNECTION")
        if_exists = kind in _WITH_IF_EXISTS and self.if_exists()
        name = (self.identifier(),) if kind == "CATALOG" else self.name()
        action = self._table_action() if kind == "TABLE" else self._action(kind)
        return AlterObject(kind, name, action, if_exists, position=position)

    def _alter_function(self, position: int, temporary: bool) -> Statement:
        system = temporary and self.take("SYSTEM")
        self.need("FUNCTION")
        if_exists = self.if_exists()
        name = self.name()
        self.need("AS")
        class_name = self.string()
        return AlterFunction(name, class_name, self.language(), if_exists, temporary, system, position=position)

    def _scoped_option(self, position: int) -> Statement:
        scope = self.advance().key
        if self.take("RESET"):
            key = "ALL" if self.take("ALL") else ".".join(self.name())
            return SetOption(key, None, True, scope, position=position)
        self.need("SET")
        key = ".".join(self.name())
        self.need("=")
        value: Expression
        if self.at("ON"):
            value = Identifier((self.advance().text,))
        else:
            value = self.expression()
        return SetOption(key, value, False, scope, position=position)

    # -- actions --------------------------------------------------------------------------------------------------

    def _action(self, kind: str) -> AlterAction:
        """Changes of views, databases, catalogs, models and connections."""
        position = self.token.position
        if kind in ("VIEW", "MODEL", "CONNECTION") and self.take("RENAME"):
            self.need("TO")
            return AlterAction("RENAME", self.name(), position=position)
        if kind == "VIEW":
            self.need("AS")
            return AlterAction("AS", value=self.query(), position=position)
        if kind == "CATALOG" and self.take("COMMENT"):
            return AlterAction("COMMENT", value=self.string(), position=position)
        if kind != "DATABASE" and self.take("RESET"):
            return AlterAction("RESET", keys=self.option_keys(), position=position)
        self.need("SET")
        return AlterAction("SET", options=self.options(), position=position)

    def _table_action(self) -> AlterAction:
        position = self.token.position
        if self.take("RENAME"):
            if self.take("TO"):
                return AlterAction("RENAME", self.name(), position=position)
            old = self.name()
            self.need("TO")
            return AlterAction("RENAME COLUMN", names=(old, self.name()), position=position)
        if self.take("RESET"):
            return AlterAction("RESET", keys=self.option_keys(), position=position)
        if self.take("SET"):
            return AlterAction("SET", options=self.options(), position=position)
        return self._schema_action(partitions=True)

    def _schema_action(self, partitions: bool) -> AlterAction:
        """`ADD`, `MODIFY` and `DROP` of columns, keys, watermarks, distributions and partitions."""
        position = self.token.position
        word = self.need_any("ADD", "MODIFY", "DROP")
        if word == "DROP":
            return self._drop_action(position, partitions)
        if self.take("DISTRIBUTION"):
            return AlterAction(f"{word} DISTRIBUTION", distribution=self.distribution(), position=position)
        if word == "ADD" and partitions and (self.at("PARTITION") or self.ahead("IF", "NOT", "EXISTS")):
            if_not_exists = self.if_not_exists()
            found: list[tuple[tuple[PartitionValue, ...], Options]] = []
            while not found or self.at("PARTITION"):
                self.need("PARTITION")
                found.append((self.partition(), self.with_options()))
            return AlterAction("ADD PARTITIONS", partitions=tuple(found), if_exists=if_not_exists, position=position)
        elements = self.elements(placed=True) if self.at("(") else (self.element(placed=True),)
        return AlterAction(word, elements=elements, position=position)

    def _drop_action(self, position: int, partitions: bool) -> AlterAction:
        if self.take("PRIMARY"):
            self.need("KEY")
            return AlterAction("DROP PRIMARY KEY", position=position)
        if self.take("CONSTRAINT"):
            return AlterAction("DROP CONSTRAINT", (self.identifier(),), position=position)
        if self.at("WATERMARK", "DISTRIBUTION"):
            return AlterAction(f"DROP {self.advance().key}", position=position)
        if partitions and (self.at("PARTITION") or self.ahead("IF", "EXISTS")):
            if_exists = self.if_exists()
            found: list[tuple[tuple[PartitionValue, ...], Options]] = []
            while not found or self.take(","):
                self.need("PARTITION")
                found.append((self.partition(), ()))
            return AlterAction("DROP PARTITIONS", partitions=tuple(found), if_exists=if_exists, position=position)
        names: tuple[Name, ...] = self.columns_of_names() if self.at("(") else (self.name(),)
        return AlterAction("DROP COLUMNS", names=names, position=position)

    def _materialized_action(self) -> AlterAction:
        position = self.token.position
        if self.take("SUSPEND"):
            return AlterAction("SUSPEND", position=position)
        if self.take("RESUME"):
            return AlterAction("RESUME", options=self.with_options(), position=position)
        if self.take("REFRESH"):
            partition = self.partition() if self.take("PARTITION") else ()
            return AlterAction("REFRESH", partitions=((partition, ()),), position=position)
        if self.take("RESET"):
            return AlterAction("RESET", keys=self.option_keys(), position=position)
        if self.take("AS"):
            return AlterAction("AS", value=self.query(), position=position)
        if self.take("SET"):
            if self.at("FRESHNESS"):
                return AlterAction("SET FRESHNESS", value=self.freshness(), position=position)
            if self.at("REFRESH_MODE"):
                return AlterAction("SET REFRESH_MODE", value=self.refresh_mode(), position=position)
            return AlterAction("SET", options=self.options(), position=position)
        return self._schema_action(partitions=False)

    # -- DROP -----------------------------------------------------------------------------------------------------

    def drop(self) -> Statement:
        """`DROP ...`."""
        position = self.need("DROP")
        temporary = self.take("TEMPORARY")
        system = self.take("SYSTEM")
        if self.take("MATERIALIZED"):
            if temporary:
                self.fail("A materialized table cannot be temporary")
            self.need("TABLE")
            kind = "MATERIALIZED TABLE"
        elif system:
            kind = self.need_any("FUNCTION", "CONNECTION") if temporary else self.need_any("FUNCTION")
        elif temporary:
            kind = self.need_any("TABLE", "VIEW", "FUNCTION", "MODEL", "CONNECTION")
        else:
            kind = self.need_any("TABLE", "VIEW", "FUNCTION", "MODEL", "CONNECTION", "CATALOG", "DATABASE")
        if_exists = self.if_exists()
        name = self.name()
        behaviour = self.take_any("CASCADE", "RESTRICT") if kind == "DATABASE" else None
        return Drop(kind, name, if_exists, temporary, system, behaviour, position=position)
