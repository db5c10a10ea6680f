"""Objects of headrace that durable files can hold, in forms that the recorded jobs do not have: positions of sources
that need a server, and values that a program may keep in its state.
"""

from __future__ import annotations

import base64
import pickle

from headrace.common import BadRecord, Duration, Instant, Row, RowKind, Time
from headrace.common.errors import StateError
from headrace.common.watermark_generator import Watermark
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.dataframes.source import Lane
from headrace.connectors.feedback import Returned
from headrace.connectors.files.source import FileRange
from headrace.connectors.kafka.source import PartitionRange
from headrace.datastream.window import CountWindow, GlobalWindow, TimestampedValue, TimeWindow
from headrace.operators.cep.key_state import KeyState
from headrace.state.opaque_key import OpaqueKey
from headrace.state.operator_state import OperatorSnapshot
from headrace.state.tombstone import TOMBSTONE


def objects():
    """One of each, by name."""
    return {
        "partition of a Kafka topic": PartitionRange("orders", 3, 17, None),
        "lane of a streaming DataFrame": Lane("folder", 1, 2),
        "range of a file": FileRange("path", 5, 10),
        "split": Split("7", (1, 2)),
        "returned records": Returned([([1, 2], None)], quiet=True),
        "operator state": OperatorSnapshot({"a": [1]}, {"b": [2]}, {"c": {3: 4}}),
        "opaque key": OpaqueKey([1, {"a": 2}]),
        "tombstone": TOMBSTONE,
        "branches of a pattern": KeyState(),
        "bad record": BadRecord({"topic": "orders"}, b"{", "not JSON"),
        "error": StateError("A message", seen=3),
        "windows": [TimeWindow(1, 2), CountWindow(3), GlobalWindow()],
        "timestamped value": TimestampedValue("a", 5),
        "times": [Time.seconds(3), Duration.of_millis(4), Instant(5, 6), Watermark(7)],
        "rows": [Row(1, "a"), Row(b=2, a=1), Row.of_kind(RowKind.DELETE, 1)],
    }


def pickled(value) -> str:
    return base64.b64encode(pickle.dumps(value, protocol=5)).decode("ascii")


def shown(value) -> str:
    """A text in which equal objects are equal, also those that do not say what is in them."""
    return repr(value.__reduce__()[1]) if isinstance(value, KeyState) else repr(value)
