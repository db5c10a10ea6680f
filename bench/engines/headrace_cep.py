#!/usr/bin/env python3
"""W8 of the benchmark as a pattern of headrace.cep; all else is what its engine `headrace` does.

Runs beside the benchmark's own engines: `bench/compare.py --engines headrace,headrace_cep,flink_sql --workloads W8`.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from common import HERE, main

WORKLOADS = ["W8"]

_spec = importlib.util.spec_from_file_location("bench_headrace", os.path.join(HERE, "headrace.py"))
plain: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(plain)
plain_env_for = plain.env_for


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

    flink_jobs.w8 = w8
    return plain_env_for(a)


plain.env_for = env_for

if __name__ == "__main__":
    main("headrace_cep", plain.run, WORKLOADS)
