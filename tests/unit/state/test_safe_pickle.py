"""What state files may bring back, and what not."""

import array
import collections
import datetime
import decimal
import enum
import fractions
import os
import pickle
import sys
import types
import uuid
import zoneinfo
from dataclasses import dataclass

import pytest

from headrace.common.errors import StateError
from headrace.common.time import Duration
from headrace.common.types import Row
from headrace.state.opaque_key import OpaqueKey
from headrace.state.safe_pickle import BY_VALUE, PLAIN, dump, load
from headrace.state.tombstone import TOMBSTONE


@dataclass
class Visit:
    user: str
    pages: list[str]


class Color(enum.Enum):
    RED = 1


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Evil:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


VALUES = [
    None,
    [1, 2.5, "x", b"y", True, (1, [2]), {"a": {3}}, frozenset({4}), bytearray(b"z"), 1j, range(3), ...],
    datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc),
    datetime.datetime(2026, 1, 2, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
    [datetime.date(2026, 1, 2), datetime.time(1, 2), datetime.timedelta(days=1)],
    [decimal.Decimal("1.5"), fractions.Fraction(1, 3), uuid.UUID(int=5)],
    [collections.Counter("abc"), collections.OrderedDict(a=1), collections.deque([1], maxlen=2)],
    collections.defaultdict(list, {"a": [1]}),
    array.array("d", [1.0, 2.0]),
    types.SimpleNamespace(a=1),
    Row("a", 1),
    Row(name="a", n=1),
    Duration.of_seconds(1),
    OpaqueKey([1, 2]),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_plain_values_come_back(value):
    codec, data = dump(value)
    assert codec == PLAIN
    assert load(codec, data) == value


def test_tombstone_stays_itself():
    assert load(*dump([TOMBSTONE]))[0] is TOMBSTONE


def test_exceptions_come_back():
    again = load(*dump([ValueError("x"), StateError("y", remedy="z")]))
    assert isinstance(again[0], ValueError)
    assert again[1].remedy == "z"


@pytest.mark.parametrize("value", [Visit("a", ["b"]), Color.RED, Bits.A | Bits.B, Bits.A])
def test_the_jobs_own_classes_need_its_modules(value):
    codec, data = dump(value)
    assert codec == PLAIN
    with pytest.raises(StateError, match="not in a module that is allowed") as refused:
        load(codec, data)
    assert type(value).__name__ in str(refused.value)
    assert "allowed modules" in refused.value.remedy
    assert load(codec, data, allowed_modules=[__name__]) == value


def test_modules_are_matched_whole():
    codec, data = dump(Visit("a", []))
    root = __name__.split(".")[0]
    assert load(codec, data, allowed_modules=[root]) == Visit("a", [])
    with pytest.raises(StateError):
        load(codec, data, allowed_modules=[root[:-1]])


def find(module, name, *arguments):
    """A pickle that calls what is found under a name, without this process needing it."""
    text = [pickle.SHORT_BINUNICODE + bytes([len(part)]) + part.encode() for part in (module, name, *arguments)]
    head = pickle.PROTO + b"\x04" + text[0] + text[1] + pickle.STACK_GLOBAL
    return head + pickle.MARK + b"".join(text[2:]) + pickle.TUPLE + pickle.REDUCE + pickle.STOP


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "eval"),
        ("builtins", "exec"),
        ("builtins", "open"),
        ("builtins", "__import__"),
        ("builtins", "type"),
        ("builtins", "str.format"),
        ("os", "system"),
        ("posix", "system"),
        ("subprocess", "Popen"),
        ("collections", "_sys.exit"),
        ("collections", "namedtuple"),
        ("datetime", "sys.exit"),
        ("headrace.state.files", "os.system"),
        ("headrace.state.files", "Path"),
        ("headrace.state.files", "write_state_file"),
        ("headrace.state.safe_pickle", "pickle.loads"),
        ("headrace.state.safe_pickle", "pickle.Unpickler"),
        ("headrace.state.safe_pickle", "load"),
        ("functools", "partial"),
        ("operator", "attrgetter"),
        ("importlib", "import_module"),
        ("cloudpickle.cloudpickle", "subimport"),
        ("headracers", "x"),
    ],
)
def test_dangerous_names_are_refused(module, name):
    with pytest.raises(StateError, match="asks for"):
        load(PLAIN, find(module, name, "x"))


def test_attributes_are_not_a_way_around():
    for owner, name in [(str, "format"), (dict, "__init__"), (Color, "mro"), (OpaqueKey, "__init__")]:
        with pytest.raises(StateError, match="not allowed"):
            load(PLAIN, pickle.dumps(Evil(getattr, owner, name), 5), allowed_modules=[__name__])
    with pytest.raises(StateError):
        load(PLAIN, pickle.dumps(Evil(os.getpid)))


def test_what_the_jobs_modules_import_is_not_theirs():
    with pytest.raises(StateError, match="asks for"):
        load(PLAIN, find(__name__, "os.getpid"), allowed_modules=[__name__])
    with pytest.raises(StateError, match="asks for"):
        load(PLAIN, find(__name__, "sys.exit", "x"), allowed_modules=[__name__])
    assert sys is not None


def test_a_class_that_is_gone():
    with pytest.raises(StateError, match=r"no_such.*does not exist here"):
        load(PLAIN, find("headrace.state.no_such", "Thing"))
    with pytest.raises(StateError, match="does not exist here"):
        load(PLAIN, find(__name__, "Gone"), allowed_modules=[__name__])


def test_local_classes_go_by_value_and_need_trust():
    class Local:
        def __init__(self, n):
            self.n = n

    codec, data = dump([Local(3)])
    assert codec == BY_VALUE
    with pytest.raises(StateError, match="classes that cannot be imported") as refused:
        load(codec, data)
    assert "trust_job_code" in refused.value.remedy
    assert load(codec, data, trust_job_code=True)[0].n == 3


def test_trust_does_not_open_plain_pickles():
    with pytest.raises(StateError):
        load(PLAIN, find("os", "system", "x"), trust_job_code=True)


def test_what_cannot_be_pickled_says_so():
    with pytest.raises(TypeError, match="generator"):
        dump(n for n in ())


@pytest.mark.parametrize("data", [b"", b"nonsense", pickle.dumps([1] * 100)[:-20]])
def test_broken_pickles_are_state_errors(data):
    with pytest.raises(StateError, match="cannot be read"):
        load(PLAIN, data)


def test_unknown_codec():
    with pytest.raises(StateError, match="Unknown codec"):
        load("z", b"")
