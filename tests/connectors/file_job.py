"""A job that a test kills: `python file_job.py OUTPUT KIND LAST SETTINGS`. Started again, it goes on.

Writes numbers as lines; by its KIND the parts stay open over checkpoints (`rows`), or closed parts are held back until
several are put together (`compacted`).
"""

from __future__ import annotations

import json
import sys

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.common.serialization import Encoder
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import (
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    RollingPolicy,
)
from headrace.datastream.connectors.number_seq import NumberSequenceSource


def main(output: str, kind: str, last: str, settings: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(json.loads(settings)))
    env.set_parallelism(2)
    builder = FileSink.for_row_format(output, Encoder.simple_string_encoder())
    if kind == "compacted":
        strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
        builder = builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        builder = builder.enable_compact(strategy, FileCompactor.concat_file_compactor())
    else:
        builder = builder.with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=300))
    numbers = env.from_source(NumberSequenceSource(1, int(last)), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(str, Types.STRING()).sink_to(builder.build())
    env.execute("numbers")
    print("finished")


if __name__ == "__main__":
    main(*sys.argv[1:])
