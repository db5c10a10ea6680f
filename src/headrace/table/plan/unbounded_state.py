"""Which nodes of a plan keep state that grows without limit: over unbounded tables, without a time to live."""

from __future__ import annotations

from headrace.table.plan.describe import Text, description
from headrace.table.plan.nodes import aggregates, ends, joins, ranks, simple
from headrace.table.plan.nodes.base import Node, walk
from headrace.table.plan.settings import PlanSettings

_LONGEST = 120


def state_warnings(root: Node, settings: PlanSettings) -> list[str]:
    """Return a sentence for each node of a streaming plan whose state is limited neither by time nor by a TTL."""
    if settings.batch:
        return []
    return [
        f"The state of {_short(node)} grows with the number of keys or rows, because the table "
        f"{', '.join(tables)} is unbounded and table.exec.state.ttl is not set."
        for node in walk(root)
        if _grows(node) and (tables := _unbounded(node))
    ]


def _short(node: Node) -> str:
    text = description(node, Text())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _grows(node: Node) -> bool:
    match node:
        case aggregates.GroupAggregate(ttl=0, groups=groups):
            return bool(groups)
        case ranks.Rank(ttl=0) | ranks.Deduplicate(ttl=0) | simple.ChangelogNormalize(ttl=0):
            return True
        case joins.Join(left_ttl=left, right_ttl=right):
            return not (left and right)
        case ends.Sink(materialize=True, ttl=0):
            return True
    return False


def _unbounded(node: Node) -> list[str]:
    found = [each.name[-1] for each in walk(node) if isinstance(each, simple.TableScan) and not each.source.bounded]
    return list(dict.fromkeys(found))
