"""Old module paths in durable pickles lead to the classes of today, in every way of loading them."""

import base64
import importlib
import pickle

import pytest

from headrace.cep import GroupPattern, WithinType
from headrace.common.errors import StateError
from headrace.connectors.kafka.source import PartitionRange
from headrace.datastream.functions import CheckpointedFunction, KeySelector, MapFunction
from headrace.datastream.window import (
    CountTrigger,
    SlidingEventTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    TriggerResult,
    TumblingEventTimeWindows,
)
from headrace.state.moved_classes import MOVED_MODULES, MOVED_NAMES, MOVED_PACKAGES, current_module
from headrace.state.safe_pickle import BY_VALUE, PLAIN, load, unpacked
from headrace.types.row import Row, RowKind
from headrace.types.typeinfo import Types

OLD_PLACES = [
    ("headrace.cep.group_pattern", GroupPattern),
    ("headrace.cep.within_type", WithinType),
    ("headrace.common.typeinfo._types", Types),
    ("headrace.common.types", RowKind),
    ("headrace.datastream.functions.checkpointed_functions", CheckpointedFunction),
    ("headrace.datastream.functions.element_functions", MapFunction),
    ("headrace.datastream.functions.selection_functions", KeySelector),
    ("headrace.functions.checkpointed_functions", CheckpointedFunction),
    ("headrace.functions.selection_functions", KeySelector),
    ("headrace.operators.windows.count_triggers", CountTrigger),
    ("headrace.operators.windows.serializers", TimeWindowSerializer),
    ("headrace.operators.windows.sliding", SlidingEventTimeWindows),
    ("headrace.operators.windows.trigger", TriggerResult),
    ("headrace.operators.windows.window_types", TimeWindow),
    ("headrace.connectors.kafka.subscription", PartitionRange),
    ("headrace.sources.kafka.source", PartitionRange),
    ("headrace.windows.count_triggers", CountTrigger),
    ("headrace.windows.serializers", TimeWindowSerializer),
    ("headrace.windows.tumbling_windows", TumblingEventTimeWindows),
]


def old_pickle(value, old):
    """Pickle a value as the version did that had its class, or what rebuilds it, in the module `old`."""
    callable_or_class = value if isinstance(value, type) else value.__reduce_ex__(3)[0]
    new = getattr(callable_or_class, "__module__", None)
    if new == "copyreg":
        new = type(value).__module__
    data = pickle.dumps(value, protocol=3)  # names modules in a line each, so they are easily exchanged
    assert f"c{new}\n".encode() in data
    return data.replace(f"c{new}\n".encode(), f"c{old}\n".encode())


@pytest.mark.parametrize(("module", "found"), OLD_PLACES, ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize(
    ("codec", "how"),
    [
        (PLAIN, {}),
        (PLAIN, {"allowed_modules": ("my_job",)}),
        (PLAIN, {"allowed_modules": None}),
        (BY_VALUE, {"trust_job_code": True}),
    ],
)
def test_an_old_place_leads_to_the_class(module, found, codec, how):
    assert load(codec, old_pickle(found, module), **how) is found


@pytest.mark.parametrize(
    ("module", "value"),
    [
        ("headrace.operators.windows.window_types", TimeWindow(1, 2)),
        ("headrace.common.types", Row(a=1, b="x")),
        ("headrace.sources.kafka.source", PartitionRange("orders", 3, 17, None)),
    ],
    ids=repr,
)
def test_values_come_back_from_state_and_manifests(module, value):
    data = old_pickle(value, module)
    assert load(PLAIN, data) == value
    assert unpacked({"codec": PLAIN, "pickle": base64.b64encode(data).decode()}) == value


@pytest.mark.parametrize("new", sorted({*MOVED_MODULES.values(), *MOVED_NAMES.values(), *MOVED_PACKAGES.values()}))
def test_new_places_exist(new):
    importlib.import_module(new)


@pytest.mark.parametrize("old", sorted({*MOVED_MODULES, *MOVED_PACKAGES}))
def test_old_places_define_nothing(old):
    """An entry for a module that still defines classes would hide them."""
    try:
        module = importlib.import_module(old)
    except ModuleNotFoundError:
        return
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == old]
    assert [name for name in defined if not name.startswith("__")] == []


def test_other_modules_stay():
    assert current_module("headrace.state.tombstone", "TOMBSTONE") == "headrace.state.tombstone"
    assert current_module("headracer.common.types", "Row") == "headracer.common.types"


def test_an_alias_allows_no_more_than_the_new_place():
    with pytest.raises(StateError, match=r"headrace\.types\.row\._java_text|is not a class"):
        load(PLAIN, b"cheadrace.common.types\nannotations\n.")
