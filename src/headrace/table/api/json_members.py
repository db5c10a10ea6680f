"""Members for JSON texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.api.operand import Operand, data_type_of, node_of
from headrace.table.api.units import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
)
from headrace.table.sql.syntax import expressions as syntax
from headrace.types.logical_types import DataType, VarCharType

if TYPE_CHECKING:
    from typing import Self


class Json(Operand):
    """Functions of JSON texts."""

    def _json(self, name: str, path: Any, *clauses: tuple[str, object]) -> Self:
        return self._make(syntax.Call((name,), (self.node, node_of(path)), clauses=clauses))

    def is_json(self, json_type: JsonType | None = None) -> Self:
        """Return whether the text is JSON, or JSON of a kind."""
        kind = JsonType.VALUE if json_type is None else json_type
        return self._make(syntax.Is(self.node, f"JSON {kind.value}"))

    def json_exists(self, path: Any, on_error: JsonExistsOnError | None = None) -> Self:
        """Return whether there is a value at a path."""
        behaviour = JsonExistsOnError.FALSE if on_error is None else on_error
        return self._json("JSON_EXISTS", path, ("ON ERROR", behaviour.value))

    def json_value(
        self,
        path: Any,
        returning_type: DataType = VarCharType(2**31 - 1),  # noqa: B008 - types never change
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Self:
        """Return the number, text or boolean at a path."""

        def behaviour(given: JsonValueOnEmptyOrError, default: Any) -> object:
            return node_of(default) if given is JsonValueOnEmptyOrError.DEFAULT else given.value

        return self._json(
            "JSON_VALUE",
            path,
            ("RETURNING", data_type_of(returning_type)),
            ("ON EMPTY", behaviour(on_empty, default_on_empty)),
            ("ON ERROR", behaviour(on_error, default_on_error)),
        )

    def json_query(
        self,
        path: Any,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Self:
        """Return the object or array at a path as a text."""
        return self._json(
            "JSON_QUERY",
            path,
            ("WRAPPER", wrapping_behavior.value),
            ("ON EMPTY", on_empty.value),
            ("ON ERROR", on_error.value),
        )

    def json_quote(self) -> Self:
        """Return the text as a string of JSON."""
        return self._call("JSON_QUOTE")

    def json_unquote(self) -> Self:
        """Return the text of a string of JSON."""
        return self._call("JSON_UNQUOTE")
