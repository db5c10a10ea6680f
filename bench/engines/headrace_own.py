#!/usr/bin/env python3
"""Workloads with operators that PyFlink has not: W7 as an interval join, W8 as a pattern; all else is what `headrace` does.

Runs beside the benchmark's own engines: `bench/compare.py --engines headrace,headrace_own,flink_sql --workloads W7,W8`.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from common import HERE, main

WORKLOADS = ["W7", "W8"]

_spec = importlib.util.spec_from_file_location("bench_headrace", os.path.join(HERE, "headrace.py"))
plain: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(plain)
plain_env_for = plain.env_for


def w7(env: Any, a: Any) -> Any:
    import flink_jobs as jobs

    from headrace.common import Duration
    from headrace.datastream import ProcessJoinFunction

    class Pair(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
            return [(left[0], left[1], right[1], right[2], left[2])]

    bids = jobs.parsed(env, a, jobs.w7_bid, 3, 1).key_by(jobs.by(0), key_type=jobs.LONG())
    auctions = jobs.parsed(env, a, jobs.w7_auction, 3, 1, "auctions").key_by(jobs.by(0), key_type=jobs.LONG())
    bounds = Duration.of_seconds(-5), Duration.of_seconds(5)
    return bids.interval_join(auctions).between(*bounds).process(Pair(), output_type=jobs.longs(5))


def rises_to_second(bid: Any, ctx: Any) -> bool:
    return bid[1] > ctx.get_events_for_pattern("first")[0][1]


def rises_to_third(bid: Any, ctx: Any) -> bool:
    return bid[1] > ctx.get_events_for_pattern("second")[0][1]


def select(match: Any) -> Any:
    first, third = match["first"][0], match["third"][0]
    return first[0], first[2], third[2], third[1]


def w8(env: Any, a: Any) -> Any:
    import flink_jobs as jobs

    from headrace.cep import CEP, AfterMatchSkipStrategy, Pattern
    from headrace.common import Duration

    pattern = (
        Pattern.begin("first", AfterMatchSkipStrategy.skip_to_next())
        .next("second")
        .where(rises_to_second)
        .next("third")
        .where(rises_to_third)
        .within(Duration.of_seconds(10))
    )
    bids = jobs.parsed(env, a, jobs.w4_parse, 3, 2).key_by(jobs.by(0), key_type=jobs.LONG())
    return CEP.pattern(bids, pattern).select(select, output_type=jobs.longs(4))


def env_for(a: Any) -> Any:
    import flink_jobs

    flink_jobs.w7, flink_jobs.w8 = w7, w8
    return plain_env_for(a)


plain.env_for = env_for

if __name__ == "__main__":
    main("headrace_own", plain.run, WORKLOADS)
