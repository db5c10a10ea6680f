"""A job in the background: start it, watch it, end it.

`execute_async` returns as soon as the job is started and gives a `JobClient`. The source of this job never ends, so the
program decides when it has seen enough. `last_epoch` is a dict about the epoch that ended last: the job runs in small
steps, and after each of them the numbers are new.

Run it with `python examples/async_job.py`.
"""

import time

from headrace.common import WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    source = DataGeneratorSource(lambda index: index, records_per_second=1000)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    numbers.key_by(lambda number: number % 10).reduce(max).filter(lambda number: False).print()

    client = env.execute_async("numbers in the background")
    print("started, status", client.get_job_status().result().name)

    deadline = time.monotonic() + 60
    while client.last_epoch.get("totalInputRows", 0) < 2000 and time.monotonic() < deadline:
        time.sleep(0.1)

    epoch = client.last_epoch
    print("at least 2000 records in at least two epochs:", epoch["totalInputRows"] >= 2000, epoch["epochId"] >= 2)
    print("vertices:", sorted({vertex["name"] for vertex in epoch["vertices"]}))

    # Futures, as in PyFlink: result() waits. When it returns, functions are closed and no process is left.
    client.cancel().result()
    print("cancelled, status", client.get_job_status().result().name)


if __name__ == "__main__":
    main()
