"""The job of the cluster tests: numbers in their order, slowly, into files that are committed exactly once.

    cluster_job.py FOLDER NAME LAST

Imports `pace`, which the tests bring along. Also counts the numbers by their last digit, in keyed state.
"""

from __future__ import annotations

import sys

import pace

from headrace.common import Encoder, Types, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSink, RollingPolicy
from headrace.datastream.connectors.number_seq import NumberSequenceSource


def main(folder: str, name: str, last: int) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    source = NumberSequenceSource(1, last)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers").set_parallelism(1)
    paced = numbers.map(lambda number: pace.slowly(number), Types.LONG()).uid("paced").set_parallelism(1)
    files = FileSink.for_row_format(f"{folder}/{name}", Encoder.simple_string_encoder())
    paced.sink_to(files.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()).uid("files")
    pairs = paced.map(lambda number: (number % 10, 1), Types.TUPLE([Types.LONG(), Types.LONG()])).uid("pairs")
    counts = pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("counts")
    counts.filter(lambda pair: False).uid("nothing").print().uid("out")
    env.execute(name)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
