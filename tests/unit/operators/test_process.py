"""Process operators over keyed state."""

from headrace.common import Time
from headrace.datastream.functions import KeyedProcessFunction
from headrace.datastream.state import StateTtlConfig, ValueStateDescriptor
from headrace.graph.specs import Process
from headrace.testing import OperatorHarness


class Remember(KeyedProcessFunction):
    """Uses its state for the first records only."""

    def open(self, runtime_context):
        config = StateTtlConfig.new_builder(Time.seconds(1)).cleanup_incrementally(1, True).build()
        descriptor = ValueStateDescriptor("seen", None)
        descriptor.enable_time_to_live(config)
        self.seen = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        if value < 5:
            self.seen.update(value)
        yield value


def test_clean_up_for_every_record_removes_expired_values_of_other_keys():
    harness = OperatorHarness(Process(Remember(), keyed=True), lambda value: value)
    for value in range(5):
        harness.process_element(value)
    assert len(harness.snapshot().keyed["seen"]) > 0
    harness.set_processing_time(1000)
    for value in range(5, 20):  # a round over the keys ends with a record that only begins the next one
        harness.process_element(value)
    assert "seen" not in harness.snapshot().keyed
    assert [value for value, _ in harness.output] == list(range(20))
