"""Which values of Flink's `table.*` options cannot be honoured; setting one raises.

Options that change only how Flink works inside are in `headrace.compatibility.ignored_settings`. A test compares these
lists, and those that are honoured, with all options of Flink.
"""

from __future__ import annotations

from headrace.table.errors import SqlNotSupportedError

HONOURED = frozenset(
    {
        "table.builtin-catalog-name",
        "table.builtin-database-name",
        "table.display.max-column-width",
        "table.dml-sync",
        "table.exec.mini-batch.enabled",
        "table.exec.resource.default-parallelism",
        "table.exec.sink.not-null-enforcer",
        "table.exec.sink.type-length-enforcer",
        "table.exec.sink.upsert-materialize",
        "table.exec.source.cdc-events-duplicate",
        "table.exec.source.idle-timeout",
        "table.exec.state.ttl",
        "table.generated-code.max-length",
        "table.local-time-zone",
        "table.optimizer.agg-phase-strategy",
        "table.optimizer.reuse-sub-plan-enabled",
        "table.sql-dialect",
    }
)

_MEMORY_ONLY = "catalogs live in the memory of the program"
ONLY_VALUES = {
    "table.catalog-modification.listeners": ("", "there are no listeners; " + _MEMORY_ONLY),
    "table.catalog-store.kind": ("generic_in_memory", _MEMORY_ONLY),
    "table.column-expansion-strategy": ("", "SELECT * always has all columns"),
    "table.dynamic-table-options.enabled": ("true", "OPTIONS hints are always allowed"),
    "table.exec.disabled-operators": ("", "an operator has one implementation"),
    "table.exec.legacy-cast-behaviour": ("disabled", "CAST fails for a value that does not fit; use TRY_CAST"),
    "table.exec.sink.nested-constraint-enforcer": ("ignore", "constraints inside nested rows are not checked"),
    "table.exec.sink.require-on-conflict": ("false", "INSERT has no ON CONFLICT clause"),
    "table.exec.sink.rowtime-inserter": ("enabled", "the row time is always written"),
    "table.exec.sort.default-limit": ("-1", "add LIMIT to the query"),
    "table.legacy-nested-row-nullability": ("false", "rows inside rows have the nullability of their declaration"),
    "table.optimizer.non-deterministic-update.strategy": (
        "ignore",
        "plans are not checked for non-deterministic updates",
    ),
    "table.rtas-ctas.atomicity-enabled": ("false", "the table of CREATE TABLE ... AS exists before its rows"),
    "table.secret-store.kind": ("generic_in_memory", _MEMORY_ONLY),
}
"""By key: the only value that can be set, in lower case, and why."""


def check_table_option(key: str, value: str) -> None:
    """Raise if an option asks for something that this version does not do.

    >>> check_table_option("table.exec.legacy-cast-behaviour", "DISABLED")
    >>> check_table_option("table.exec.legacy-cast-behaviour", "enabled")
    Traceback (most recent call last):
        ...
    headrace.table.errors.SqlNotSupportedError: 'table.exec.legacy-cast-behaviour' = 'enabled' is not supported: ...
    """
    only = ONLY_VALUES.get(key)
    if only is not None and value.strip().lower() != only[0]:
        raise SqlNotSupportedError(f"'{key}' = '{value}' is not supported: {only[1]}", remedy="remove the option")
