"""The public test kit: drive one operator by hand, or a whole job from a list of events.

`OperatorHarness` feeds records, watermarks and clock moves to a single operator, without any executor. `events` makes a source
out of a list of events, for a job on any executor; with the configuration `headrace.testing.clock` the job's
processing time moves only where the list says so. `observe` shows what a stream of such a job carries: records with their
timestamps, watermarks and idleness. `CollectingSink` is a sink that keeps elements for the test, as values or as texts.
"""

from headrace.testing.collecting_sink import CollectingSink
from headrace.testing.events import AdvanceClock, EndEpoch, Event, Fail, Idle, Record, WatermarkTo, event_source
from headrace.testing.harness import OperatorHarness
from headrace.testing.observation import observe

__all__ = [
    "AdvanceClock",
    "CollectingSink",
    "EndEpoch",
    "Event",
    "Fail",
    "Idle",
    "OperatorHarness",
    "Record",
    "WatermarkTo",
    "event_source",
    "observe",
]
