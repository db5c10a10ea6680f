"""The programs that the browser tests run."""

SHOP = """
import os, sys, time
from headrace.common import Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.state import ValueStateDescriptor

slow, results = sys.argv[1], sys.argv[2]

class Now(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(time.time() * 1000)

class Count(KeyedProcessFunction):
    def open(self, context):
        self.seen = context.get_state(ValueStateDescriptor("seen", Types.LONG()))
        # The local executor runs subtasks one after the other: only one alone can be busy all the time.
        self.may_be_slow = context.get_index_of_this_subtask() == 0

    def process_element(self, value, context):
        if self.may_be_slow and os.path.exists(slow):
            time.sleep(0.03)
        count = (self.seen.value() or 0) + 1
        self.seen.update(count)
        yield f"{value[0]} {count}"

def write(line):
    with open(results, "a") as file:
        file.write(line + "\\n")
    return line

print("The counts are about to begin")
env = StreamExecutionEnvironment.get_execution_environment()
orders = env.from_source(
    DataGeneratorSource(lambda index: (f"shop-{index % 64}", index), records_per_second=200),
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Now()),
    "orders",
)
counts = orders.key_by(lambda order: order[0]).process(Count(), Types.STRING()).name("count orders").uid("count")
counts.rebalance().map(write, Types.STRING()).name("write results").filter(lambda line: False).print()
env.execute("Orders of the shops")
"""

BROKEN = """
from headrace.datastream import StreamExecutionEnvironment

def price_of(text):
    return int(text)

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(["1200", "12,50"]).map(price_of).name("prices").print()
env.execute("Broken prices")
"""

HOSTILE_NAME = """<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>'"&amp;"""
HOSTILE = f"""
from headrace.datastream import StreamExecutionEnvironment

name = {HOSTILE_NAME!r}

def fail(value):
    raise ValueError(name)

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).map(fail).name(name).print()
env.execute(name)
"""
