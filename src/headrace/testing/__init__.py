"""The public test kit: drive a single operator, or a whole job from a list of events.

`OperatorHarness` feeds records, watermarks and clock changes to a single operator, without an executor. `event_source` turns
a list of events into a source for a job on any executor. With the configuration `headrace.testing.clock`, the job's
processing time advances only where the list says so. `observe` shows the contents of a stream: records with their
timestamps, watermarks and idleness. `CollectingSink` collects elements for the test, as values or strings.
"""

from headrace.testing.collecting_sink import CollectingSink
from headrace.testing.events import (
    AdvanceClock,
    EndEpoch,
    Event,
    Fail,
    Idle,
    Record,
    WatermarkTo,
    event_source,
    observe,
)
from headrace.testing.harness import OperatorHarness

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
