import dataclasses
import datetime
import subprocess
import sys
import uuid
from collections import OrderedDict, namedtuple
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from fractions import Fraction
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common import Duration, Instant, Row, Time
from headrace.common.errors import TypeMismatchError
from headrace.types.stable_hash import murmur, stable_hash

# Computed by Flink's MathUtils.murmurHash.
MURMUR = [
    (0, 593689054), (1, 68075478), (-1, 1982413648), (2, 1085422463), (42, 1134849565), (1000, 3506311),
    (2147483647, 1653689534), (-2147483648, 1718298732), (123456789, 1088346449), (97, 1455541201),
    (-1661267722, 1798926491), (-1088461400, 290913439), (-947116003, 918806299), (1982032882, 939416867),
]  # fmt: skip


@pytest.mark.parametrize(("code", "mixed"), MURMUR)
def test_murmur_is_flinks(code, mixed):
    assert murmur(code) == mixed


@given(st.integers(-(2**31), 2**31 - 1))
def test_murmur_is_never_negative(code):
    assert 0 <= murmur(code) < 2**31


def test_key_groups_of_texts_are_flinks():
    assert [murmur(stable_hash(key)) % 128 for key in ("a", "b", "hello")] == [81, 22, 35]


@pytest.mark.parametrize(
    ("key", "code"),
    [  # Java's hashCode
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("😀x", 54959989),
        ("über", 7604755),
        (7, 7),
        (-1, 0),
        (2**32, 1),
        (2**63 - 1, -(2**31)),
        (2**64, 961),  # BigInteger of the digits 1, 0, 0
        (-(2**64), -961),
        (1.5, 1073217536),
        (None, 0),
        (True, 1),
    ],
)
def test_hashes_are_javas(key, code):
    assert stable_hash(key) == code


class Size(IntEnum):
    SMALL = 1


class Word(str, Enum):
    HELLO = "hello"


class Colour(Enum):
    RED = 1
    BLUE = 2


class Access(Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int
    note: str = dataclasses.field(default="", compare=False)


class Plain:
    def __init__(self, *values):
        self.values = values

    def __eq__(self, other):
        return isinstance(other, Plain) and self.values == other.values

    def __hash__(self):
        return hash(self.values)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return isinstance(other, Slotted) and self.a == other.a

    __hash__ = None


Pair = namedtuple("Pair", "a b")
ZONE = datetime.timezone(datetime.timedelta(hours=2))
INFINITE = float("inf")

SAME = [
    [1, 1.0, True, Decimal(1), Decimal("1.00"), Fraction(1), 1 + 0j, Size.SMALL],
    [0, 0.0, -0.0, False, Decimal("0E+3")],
    [0.5, Decimal("0.5"), Fraction(1, 2)],
    [Decimal("0.1"), Fraction(1, 10)],
    [10**30, Decimal(10**30), Decimal("1E+30"), Fraction(10**30)],
    [int(1e30), 1e30, Decimal(int(1e30))],
    [INFINITE, Decimal("Infinity")],
    ["hello", Word.HELLO],
    [b"ab", bytearray(b"ab")],
    [(1, "a"), (True, "a"), Pair(1.0, "a")],
    [{1, 2}, frozenset({2, 1}), {2.0, 1.0}],
    [{"a": 1, "b": [2]}, OrderedDict([("b", [2.0]), ("a", 1)])],
    [Row(a=1, b=2), Row(b=2, a=1)],
    [
        datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.timezone.utc),
        datetime.datetime(2020, 1, 1, 14, tzinfo=ZONE),
    ],
    [datetime.time(12, tzinfo=datetime.timezone.utc), datetime.time(14, tzinfo=ZONE)],
    [datetime.timedelta(days=1), datetime.timedelta(hours=24)],
    [range(0, 3, 2), range(0, 4, 2)],
    [Point(1, 2), Point(1.0, 2, "note")],
    [Plain(1, "a"), Plain(1.0, "a")],
    [Slotted(1), Slotted(True)],
    [uuid.UUID(int=5), uuid.UUID(int=5)],
    [PurePosixPath("/a/b"), PurePosixPath("/a//b")],
    [Duration.of_seconds(60), Duration.of_minutes(1)],
    [Time.seconds(60), Time.minutes(1)],
    [Colour.RED, Colour(1)],
    [Access.READ | Access.WRITE, Access.WRITE | Access.READ],
]


@pytest.mark.parametrize("keys", SAME, ids=lambda keys: " ".join(type(key).__name__ for key in keys))
def test_equal_keys_have_equal_hashes(keys):
    for key in keys:
        assert key == keys[0]
        assert stable_hash(key) == stable_hash(keys[0])
        assert -(2**31) <= stable_hash(key) < 2**31


def test_different_keys_mostly_differ():
    keys = [keys[0] for keys in SAME] + [
        Colour.BLUE,
        Instant(1, 2),
        Instant(2, 1),
        Access.READ,
        datetime.date(2020, 1, 1),
    ]
    assert len({stable_hash(key) for key in keys}) >= len(keys) - 2
    assert stable_hash(Point(1, 2)) != stable_hash(Point(2, 1))
    assert stable_hash(("a", "b")) != stable_hash(("b", "a"))
    assert stable_hash({"a": 1, "b": 2}) != stable_hash({"a": 2, "b": 1})


NUMBERS = st.integers() | st.floats(allow_nan=False) | st.booleans() | st.decimals(allow_nan=False) | st.fractions()


@given(NUMBERS, NUMBERS)
def test_numbers_agree_with_equality(first, second):
    for one, other in ((first, second), (first, Fraction(first) if abs(first) != INFINITE else first)):
        if one == other:
            assert stable_hash(one) == stable_hash(other)


class Identity:
    pass


@pytest.mark.parametrize("key", [Identity(), object(), (1, Identity()), Identity, {"a": Identity()}])
def test_keys_that_only_equal_themselves_are_refused(key):
    with pytest.raises(TypeMismatchError, match="key selector"):
        stable_hash(key)


def test_hashes_do_not_depend_on_the_process():
    keys = "['a', ('x', 1), {'b': 2}, {'p', 'q', 'r'}, b'z', Decimal('1.5'), UUID(int=9), date(2020, 1, 1), Path('/a')]"
    code = (
        "from decimal import Decimal; from uuid import UUID; from datetime import date;"
        "from pathlib import PurePosixPath as Path; from headrace.types.stable_hash import stable_hash;"
        f"print([stable_hash(key) for key in {keys}])"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, **PATHS},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1


PATHS = {"PYTHONPATH": ":".join(sys.path)}


def test_hashes_never_change():
    # If this fails, state in existing checkpoints would no longer be found.
    keys = [("a", 1), [1, 2], {"a": 1}, {1, 2}, b"abc", Decimal("1.1"), Row(a=1, b="x"), Colour.RED, Point(1, 2)]
    keys += [datetime.datetime(2020, 1, 1), datetime.time(1), datetime.timedelta(1), uuid.UUID(int=1), Plain("a")]
    assert [stable_hash(key) for key in keys] == FROZEN


FROZEN = [3969, 994, 1123382429, 1153497941, 891568578, 46759022, 1112, -1680682042, -1898885069, 1478134360]
FROZEN += [-694967296, 500654100, 1, -1415942593]
