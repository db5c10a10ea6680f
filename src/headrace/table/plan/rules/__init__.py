"""Rules that rewrite logical relations: pure functions, applied in the order of `optimised`."""

from __future__ import annotations

from headrace.table.plan.relations import Relation
from headrace.table.plan.rules.folding import Folding
from headrace.table.plan.rules.grouping_sets import expand_grouping_sets
from headrace.table.plan.rules.join_keys import compute_join_keys
from headrace.table.plan.rules.merging import merge_filters, merge_projects, remove_trivial, rename_below
from headrace.table.plan.rules.over_calls import extract_over_calls
from headrace.table.plan.rules.pruning import prune
from headrace.table.plan.rules.pushdown import push_filter, push_join_condition
from headrace.table.plan.rules.rewriting import bottom_up
from headrace.table.plan.rules.set_operations import expand_set_operation
from headrace.table.plan.rules.top_n import detect_top_n
from headrace.table.plan.settings import PlanSettings

__all__ = ["optimised"]


def optimised(relation: Relation, settings: PlanSettings) -> Relation:
    """Return an equal relation that is simpler to run.

    1. Set operations, grouping sets and OVER calls become basic relations.
    2. Constants are folded, filters move down, top-N patterns are found, neighbours are merged.
    3. Operands of equalities in join conditions become columns of the sides.
    4. Unused columns are dropped, and the projections that this leaves are merged.
    """
    basic = bottom_up(relation, (expand_set_operation, expand_grouping_sets, extract_over_calls))
    merging = (remove_trivial, merge_filters, merge_projects)
    moved = bottom_up(basic, (Folding(settings.session), *merging, detect_top_n, push_filter, push_join_condition))
    keyed = bottom_up(moved, (compute_join_keys, *merging))
    return bottom_up(prune(keyed), (*merging, rename_below))
