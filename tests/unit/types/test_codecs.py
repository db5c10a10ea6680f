import datetime
import pickle
from array import array
from collections import OrderedDict, namedtuple
from decimal import Decimal
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common import Instant, Row, RowKind, Types
from headrace.common.errors import TypeMismatchError
from headrace.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo, LocalZonedTimestampTypeInfo
from headrace.types.codecs import codec_for

NAN = float("nan")
UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)
LONGS = Types.TUPLE([Types.LONG(), Types.LONG()])
PAIR = Types.TUPLE([Types.LONG(), Types.STRING()])
NAMED = Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.STRING()])
Pair = namedtuple("Pair", "a b")


class Colour(str, Enum):
    RED = "red"


class Thing:
    def __init__(self, **values):
        self.__dict__.update(values)


# What PyFlink 2.3 makes of values that cross from Python to Java and back.
BECOMES = [
    (Types.BYTE(), -128, -128),
    (Types.BYTE(), True, 1),
    (Types.SHORT(), -1.7, -1),
    (Types.INT(), 1.7, 1),
    (Types.INT(), 2**31 - 1, 2**31 - 1),
    (Types.LONG(), Decimal("3.5"), 3),
    (Types.LONG(), -(2**63), -(2**63)),
    (Types.BIG_INT(), 10**40, 10**40),
    (Types.BIG_INT(), True, 1),
    (Types.BIG_INT(), None, None),
    (Types.FLOAT(), 1.1, 1.100000023841858),
    (Types.FLOAT(), 1e39, float("inf")),
    (Types.FLOAT(), 3, 3.0),
    (Types.DOUBLE(), 2**53 + 1, 9007199254740992.0),
    (Types.DOUBLE(), True, 1.0),
    (Types.DOUBLE(), Decimal("3.5"), 3.5),
    (Types.BOOLEAN(), 1, True),
    (Types.BOOLEAN(), 0.5, False),
    (Types.STRING(), "ü😀", "ü😀"),
    (Types.STRING(), Colour.RED, "red"),
    (Types.STRING(), None, None),
    (Types.CHAR(), "a", "a"),
    (Types.BIG_DEC(), 1.5, Decimal("1.5")),
    (Types.BIG_DEC(), "2.50", Decimal("2.50")),
    (Types.BIG_DEC(), None, None),
    (Types.SQL_DATE(), MOMENT, MOMENT.date()),
    (Types.SQL_DATE(), None, None),
    (Types.SQL_TIME(), MOMENT.time(), datetime.time(3, 4, 5, 678000)),
    (Types.SQL_TIME(), MOMENT, datetime.time(3, 4, 5, 678000)),
    (Types.SQL_TIMESTAMP(), MOMENT.replace(tzinfo=UTC), MOMENT.replace(microsecond=678000)),
    (Types.INSTANT(), Instant(-1, 2), Instant(-1, 2)),
    (Types.INSTANT(), None, None),
    (LocalZonedTimestampTypeInfo(), MOMENT.replace(tzinfo=UTC), MOMENT.replace(tzinfo=UTC)),
    (LocalZonedTimestampTypeInfo(), Instant(1, 0), datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
    (LocalZonedTimestampTypeInfo(), None, None),
    (LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME), MOMENT, MOMENT),
    (PAIR, [1, "a"], (1, "a")),
    (PAIR, Row(1, "a"), (1, "a")),
    (PAIR, Pair(1, "a"), (1, "a")),
    (NAMED, Row(1, "a"), Row(a=1, b="a")),
    (NAMED, Row(b="x", a=1), Row(a=1, b="x")),
    (NAMED, Row(1, None), Row(a=1, b=None)),
    (NAMED, (1, "a"), Row(a=1, b="a")),
    (NAMED, [1, "a"], Row(a=1, b="a")),
    (NAMED, {"b": "x"}, Row(a=None, b="x")),
    (NAMED, Thing(a=1, b="x", c=0), Row(a=1, b="x")),
    (NAMED, Row.of_kind(RowKind.DELETE, 1, "a"), Row.of_kind(RowKind.DELETE, a=1, b="a")),
    (Types.ROW([Types.INT()]), Row(1), Row(f0=1)),
    (Types.TUPLE([Types.ROW([Types.INT()])]), (Row(None),), (Row(f0=None),)),
    (Types.LIST(Types.LONG()), (1, 2), [1, 2]),
    (Types.LIST(Types.LONG()), [True, 2.5], [1, 2]),
    (Types.PRIMITIVE_ARRAY(Types.INT()), array("i", [1, 2]), [1, 2]),
    (Types.BASIC_ARRAY(Types.LONG()), [1, None], [1, None]),
    (Types.OBJECT_ARRAY(PAIR), [[1, "a"], None], [(1, "a"), None]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), bytearray(b"ab"), b"ab"),
    (Types.MAP(Types.LONG(), Types.STRING()), OrderedDict({2: "b"}), {2: "b"}),
    (Types.MAP(Types.LONG(), Types.DOUBLE()), {True: 1, 2: None}, {1: 1.0, 2: None}),
    (ExternalTypeInfo(Types.INT()), True, 1),
]


def exact(value):
    """The value together with the types of all its parts: 1, 1.0 and True must not count as the same."""
    if isinstance(value, Row):
        return Row, getattr(value, "_fields", None), value.get_row_kind(), [exact(item) for item in value]
    if isinstance(value, dict):
        return type(value), [(exact(key), exact(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [exact(item) for item in value]
    return type(value), repr(value)


@pytest.mark.parametrize(("kind", "given_value", "expected"), BECOMES)
def test_values_take_the_declared_type(kind, given_value, expected):
    codec = codec_for(kind)
    assert exact(codec.convert(given_value)) == exact(expected)
    coerced = codec.coerce([given_value, expected])
    assert exact(coerced) == exact([expected, expected])
    assert exact(travel(codec, [given_value, expected])) == exact([expected, expected])
    settled = [expected, expected]
    assert codec.coerce(settled) is settled


def travel(codec, values):
    return codec.decode(pickle.loads(pickle.dumps(codec.encode(values), 5)))


WRONG = [
    (Types.BYTE(), 128),
    (Types.SHORT(), -32769),
    (Types.INT(), 2**31),
    (Types.LONG(), 2**63),
    (Types.LONG(), None),
    (Types.LONG(), "1"),
    (Types.LONG(), NAN),
    (Types.LONG(), float("inf")),
    (Types.LONG(), [1]),
    (Types.BIG_INT(), "1"),
    (Types.DOUBLE(), "1"),
    (Types.DOUBLE(), None),
    (Types.DOUBLE(), 10**400),
    (Types.FLOAT(), "1"),
    (Types.BOOLEAN(), None),
    (Types.BOOLEAN(), "true"),
    (Types.STRING(), 1),
    (Types.STRING(), b"a"),
    (Types.CHAR(), "ab"),
    (Types.CHAR(), None),
    (Types.BIG_DEC(), "abc"),
    (Types.BIG_DEC(), Decimal("NaN")),
    (Types.SQL_DATE(), 5),
    (Types.SQL_TIMESTAMP(), MOMENT.date()),
    (Types.INSTANT(), 5),
    (LocalZonedTimestampTypeInfo(), MOMENT),
    (PAIR, (1,)),
    (PAIR, (1, "a", 2)),
    (PAIR, ("a", 1)),
    (PAIR, {"a": 1, "b": 2}),
    (PAIR, "ab"),
    (PAIR, None),
    (LONGS, b"ab"),
    (LONGS, {1: 2, 3: 4}),
    (NAMED, Row(x=1, y="a")),
    (NAMED, Row(1)),
    (NAMED, Row(1, "a", 2)),
    (NAMED, Row("a", "a")),
    (NAMED, 5),
    (NAMED, None),
    (Types.LIST(Types.LONG()), [1, None]),
    (Types.LIST(Types.LONG()), "ab"),
    (Types.LIST(Types.LONG()), {1}),
    (Types.BASIC_ARRAY(Types.LONG()), ["a"]),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), [1]),
    (Types.MAP(Types.LONG(), Types.STRING()), {None: "a"}),
    (Types.MAP(Types.LONG(), Types.STRING()), [(1, "a")]),
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_wrong_values_are_refused(kind, value):
    codec = codec_for(kind)
    for use in (codec.coerce, codec.encode):
        with pytest.raises(TypeMismatchError) as caught:
            use([value])
        assert caught.value.seen
        assert caught.value.expected


def test_errors_name_the_field_and_the_record():
    with pytest.raises(TypeMismatchError) as caught:
        codec_for(NAMED).encode([Row(a=1, b="x"), Row(a=2, b=3)])
    text = str(caught.value)
    assert "Field b" in text
    assert "3 (int)" in text
    assert "Row(a=2, b=3)" in text
    assert "RowTypeInfo(a: Long, b: String)" in text


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Types.BYTE(), 200, -56),
        (Types.BYTE(), 70000, 112),
        (Types.SHORT(), 40000, -25536),
        (Types.INT(), 2**31, -(2**31)),
        (Types.INT(), 2**33 + 5, 5),
        (Types.TUPLE([Types.INT()]), (2**31,), (-(2**31),)),
        (Types.LIST(Types.INT()), [2**31], [-(2**31)]),
        (Types.ROW([Types.INT()]), (2**31,), Row(f0=-(2**31))),
    ],
)
def test_elements_of_collections_wrap(kind, value, expected):
    codec = codec_for(kind, wrap=True)
    assert codec.coerce([value]) == [expected]
    assert travel(codec, [value]) == [expected]


def test_longs_never_wrap():
    with pytest.raises(TypeMismatchError):
        codec_for(Types.LONG(), wrap=True).coerce([2**63])


@pytest.mark.parametrize("kind", [None, Types.PICKLED_BYTE_ARRAY()])
def test_untyped_values_are_left_alone(kind):
    values = [1, "a", object()]
    codec = codec_for(kind)
    assert codec.coerce(values) is values
    assert codec.encode(values) is values
    assert codec.decode(values) is values


def test_names_tell_codecs_apart():
    other = Types.ROW_NAMED(["x", "y"], [Types.LONG(), Types.STRING()])
    assert other == NAMED
    assert codec_for(other).coerce([(1, "a")]) == [Row(x=1, y="a")]
    assert codec_for(NAMED).coerce([(1, "a")]) == [Row(a=1, b="a")]


@pytest.mark.parametrize("kind", [kind for kind, _, _ in BECOMES])
def test_empty_batches(kind):
    codec = codec_for(kind)
    empty = []
    assert codec.coerce(empty) is empty
    assert travel(codec, empty) == []


def test_types_without_fields():
    assert travel(codec_for(Types.TUPLE([])), [(), ()]) == [(), ()]
    assert travel(codec_for(Types.ROW([])), [Row(), Row()]) == codec_for(Types.ROW([])).coerce([Row(), Row()])


def test_texts_that_contain_the_separator():
    values = ["a\0b", "", "\0", "c"]
    assert travel(codec_for(Types.STRING()), values) == values
    assert travel(codec_for(Types.STRING()), [""]) == [""]


def test_wide_numbers_travel_narrow_where_they_can():
    codec = codec_for(Types.LONG())
    small, large = pickle.dumps(codec.encode([1] * 1000)), pickle.dumps(codec.encode([2**40] * 1000))
    assert len(small) < 4100 < 8000 < len(large)


def test_nan_is_settled_enough():
    assert repr(travel(codec_for(Types.FLOAT()), [NAN, 0.5])) == "[nan, 0.5]"
    values = [NAN]
    assert codec_for(Types.DOUBLE()).coerce(values) is values
    assert codec_for(Types.FLOAT()).coerce(values) is values


def test_settled_rows_keep_their_list():
    rows = [Row(a=1, b="x"), Row.of_kind(RowKind.DELETE, a=2, b=None)]
    assert codec_for(NAMED).coerce(rows) is rows
    assert exact(travel(codec_for(NAMED), rows)) == exact(rows)


# ---- for any type and any values: what travels is what coerce gives, and what coerce gives is settled

LEAVES = [
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1) | st.booleans()),
    (Types.INT(), st.integers(-(2**31), 2**31 - 1) | st.floats(-1000, 1000)),
    (Types.DOUBLE(), st.floats(allow_nan=False) | st.integers(-(2**60), 2**60)),
    (Types.FLOAT(), st.floats(allow_nan=False)),
    (Types.BOOLEAN(), st.booleans() | st.integers(0, 2)),
    (Types.STRING(), st.text() | st.none()),
    (Types.BIG_INT(), st.integers() | st.none()),
    (Types.BIG_DEC(), st.decimals(allow_nan=False, allow_infinity=False)),
    (Types.SQL_DATE(), st.dates() | st.datetimes()),
    (Types.SQL_TIMESTAMP(), st.datetimes() | st.none()),
    (Types.PICKLED_BYTE_ARRAY(), st.none() | st.integers() | st.text()),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), st.binary()),
]


def widened(inner):
    one = st.sampled_from(["tuple", "row", "list", "array", "map"])
    return st.tuples(one, st.lists(inner, min_size=1, max_size=5)).map(combined)


def combined(drawn):
    form, parts = drawn
    kinds, values = [kind for kind, _ in parts], [value for _, value in parts]
    if form == "tuple":
        return Types.TUPLE(kinds), st.tuples(*values) | st.tuples(*values).map(list)
    if form == "row":
        names = [f"n{position}" for position in range(len(kinds))]
        fields = st.tuples(*[value | st.none() for value in values])
        return Types.ROW_NAMED(names, kinds), fields | fields.map(lambda items: Row(*items))
    if form == "list":
        return Types.LIST(kinds[0]), st.lists(values[0], max_size=4)
    if form == "array":
        return Types.OBJECT_ARRAY(kinds[0]), st.lists(values[0] | st.none(), max_size=4)
    return Types.MAP(Types.STRING(), kinds[0]), st.dictionaries(st.text(max_size=3), values[0] | st.none(), max_size=4)


TYPED = st.recursive(st.sampled_from(LEAVES), widened, max_leaves=6)


@given(TYPED.flatmap(lambda typed: st.tuples(st.just(typed[0]), st.lists(typed[1], max_size=6))))
def test_what_travels_is_what_coerce_gives(drawn):
    kind, values = drawn
    codec = codec_for(kind)
    coerced = codec.coerce(values)
    assert exact(travel(codec, values)) == exact(coerced)
    assert codec.coerce(coerced) is coerced
    assert exact([codec.convert(value) for value in values]) == exact(coerced)


class Person:
    def __init__(self, name):
        self.name = name


class Slotted:
    __slots__ = ("name",)


class TestObjectsAsMaps:
    """PyFlink pickles the elements of a collection, and its JVM reads a pickled object as a map."""

    TEXTS = Types.MAP(Types.STRING(), Types.STRING())

    def test_an_object_becomes_its_attributes_and_the_name_of_its_class(self):
        kind = Types.ROW([Types.INT(), self.TEXTS])
        (row,) = codec_for(kind, wrap=True).coerce([Row(1, Person("ann"))])
        assert (row[0], row[1]) == (1, {"name": "ann", "__class__": f"{__name__}.Person"})

    def test_without_the_class_where_values_are_no_texts(self):
        numbers = Types.MAP(Types.STRING(), Types.INT())
        assert codec_for(numbers, wrap=True).coerce([Person(5)]) == [{"name": 5}]

    def test_objects_in_objects(self):
        nested = Types.MAP(Types.STRING(), Types.MAP(Types.STRING(), Types.INT()))
        assert codec_for(nested, wrap=True).coerce([Person(Person(5))]) == [{"name": {"name": 5}}]

    @pytest.mark.parametrize("value", [5, "text", [1], Row(name="ann"), Slotted(), Person, ValueError("a"), object()])
    def test_what_has_no_attributes_is_refused(self, value):
        with pytest.raises(TypeMismatchError, match="declared type"):
            codec_for(self.TEXTS, wrap=True).coerce([value])

    def test_attributes_must_have_the_type(self):
        with pytest.raises(TypeMismatchError, match="declared type"):
            codec_for(self.TEXTS, wrap=True).coerce([Person(5)])

    def test_what_a_function_returns_is_no_map(self):
        with pytest.raises(TypeMismatchError, match="declared type"):
            codec_for(self.TEXTS).coerce([Person("ann")])
