"""The way of a query: rules, physical nodes, changelogs, and a job. The environment calls these functions.

1. `plan` returns the physical plan of a query or an INSERT.
2. `translate` adds it to the job of a `StreamExecutionEnvironment`; `translate_all` adds several that share their parts.
3. `explain` shows plans.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.table.plan.changelog import inferred, mode_of
from headrace.table.plan.conversion import converted
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.ends import Sink
from headrace.table.plan.phases import in_phases
from headrace.table.plan.relations import Relation
from headrace.table.plan.rules import optimised
from headrace.table.plan.settings import PlanSettings
from headrace.table.plan.sharing import shared
from headrace.table.plan.translation.translator import TableStream, Translator
from headrace.table.plan.unbounded_state import state_warnings
from headrace.types.logical_types import RowType

if TYPE_CHECKING:
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.table.changelog_mode import ChangelogMode

__all__ = ["PhysicalPlan", "TableStream", "plan", "translate", "translate_all"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class PhysicalPlan:
    """How a query runs. `relation` is what it means, `root` the last node."""

    relation: Relation
    root: Node
    settings: PlanSettings

    @property
    def row_type(self) -> RowType:
        """Return the columns of the result."""
        return self.relation.row_type

    @property
    def changelog_mode(self) -> ChangelogMode:
        """Return the kinds of changes in the result."""
        return mode_of(self.root)


def plan(relation: Relation, settings: PlanSettings | Mapping[str, str] | None = None) -> PhysicalPlan:
    """Return the physical plan of a relation. `settings` may be the options of a session."""
    if not isinstance(settings, PlanSettings):
        settings = PlanSettings.of(settings or {})
    root = in_phases(inferred(converted(optimised(relation, settings), settings), settings), settings)
    return PhysicalPlan(relation, shared([root])[0] if settings.reuse_subplans else root, settings)


def translate(physical: PhysicalPlan, env: StreamExecutionEnvironment, name: str = "query") -> TableStream:
    """Add the operators of a query to an environment and return its result as a stream in internal form."""
    _warn(physical)
    found = Translator(env, physical.settings).query(physical.root, name)
    return TableStream(found.stream, physical.row_type, found.kinds)


def translate_all(plans: Sequence[PhysicalPlan], env: StreamExecutionEnvironment) -> list[Any]:
    """Add the operators of INSERTs to one job, in which equal parts run once. Return the handles of the sinks."""
    if not plans:
        return []
    for each in plans:
        _warn(each)
    roots = [each.root for each in plans]
    settings = plans[0].settings
    translator = Translator(env, settings)
    handles = []
    for root in shared(roots) if settings.reuse_subplans else roots:
        assert isinstance(root, Sink), "only INSERT statements make a set"
        handles.append(translator.sink(root))
    return handles


def _warn(physical: PhysicalPlan) -> None:
    for line in state_warnings(physical.root, physical.settings):
        _LOG.warning(line)
