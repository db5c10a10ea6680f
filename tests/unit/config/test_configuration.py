import copy
import pickle

import pytest

from headrace.common import ConfigOption, ConfigOptions, Configuration, Duration
from headrace.common.errors import ConfigurationError, NoJvmError, TypeMismatchError


@pytest.fixture
def configuration():
    configuration = Configuration()
    configuration.set_string("a", "b").set_integer("i", 5).set_boolean("t", True).set_float("f", 1.5)
    return configuration.set_bytearray("by", bytearray(b"xy"))


def test_texts_of_all_values(configuration):
    expected = {"a": "b", "i": "5", "t": "true", "f": "1.5", "by": "!!binary |-\n  eHk="}
    assert configuration.to_dict() == expected
    assert {key: configuration.get_string(key, "") for key in expected} == expected


def test_values_read_back(configuration):
    assert configuration.get_integer("i", 0) == 5
    assert configuration.get_float("i", 0) == 5.0
    assert configuration.get_boolean("t", False) is True
    assert configuration.get_bytearray("by", bytearray()) == bytearray(b"xy")
    assert configuration.get_integer("missing", 7) == 7
    assert configuration.get_bytearray("missing", bytearray(b"d")) == bytearray(b"d")


@pytest.mark.parametrize(
    "read",
    [
        lambda c: c.get_integer("a", 1),
        lambda c: c.get_integer("f", 1),
        lambda c: c.get_boolean("a", False),
        lambda c: c.get_float("a", 1.0),
        lambda c: c.get_bytearray("a", bytearray()),
    ],
)
def test_wrong_texts_name_the_key(configuration, read):
    with pytest.raises(ConfigurationError, match=r"\b(a|f)\b"):
        read(configuration)


def test_wrong_values_are_refused():
    with pytest.raises(TypeMismatchError):
        Configuration().set_string("n", 5)
    for value in (None, "x", 1.5, True):
        with pytest.raises(ConfigurationError):
            Configuration().set_integer("n", value)
    with pytest.raises(ConfigurationError):
        Configuration().set_string("n", None)
    with pytest.raises(ConfigurationError):
        Configuration().set_string("", "x")
    with pytest.raises(NoJvmError):
        Configuration(j_configuration=object())


def test_keys(configuration):
    assert configuration.key_set() == {"a", "i", "t", "f", "by"}
    assert configuration.contains_key("a")
    assert configuration.remove_config("a") is True
    assert configuration.remove_config("a") is False
    assert not configuration.contains_key("a")


def test_copies_are_equal_and_independent(configuration):
    for other in (
        Configuration(configuration),
        copy.deepcopy(configuration),
        pickle.loads(pickle.dumps(configuration)),
    ):
        assert other == configuration
        assert hash(other) == hash(configuration)
        other.set_string("more", "x")
        assert other != configuration
        assert not configuration.contains_key("more")


def test_adding(configuration):
    target = {"o": 1}
    configuration.add_all_to_dict(target)
    assert target == {"o": 1, "a": "b", "i": 5, "t": True, "f": 1.5, "by": b"xy"}
    both = Configuration().add_all(configuration, "p.").add_all(configuration)
    assert both.key_set() == {*configuration.key_set(), *("p." + key for key in configuration.key_set())}


def test_text_is_a_java_map():
    configuration = Configuration.from_dict({"esc": "it's a: 'x'", "list": "a;b", "num": "007"})
    assert str(configuration) == "{esc=it's a: 'x', num=007, list=a;b}"


def test_options():
    timeout = ConfigOptions.key("timeout").duration_type().default_value(Duration.of_seconds(1))
    renamed = timeout.with_fallback_keys("old.timeout")
    assert Configuration().get(timeout) == Duration.of_seconds(1)
    assert Configuration().get(timeout, Duration.of_seconds(2)) == Duration.of_seconds(2)
    assert Configuration().set_string("old.timeout", "3 s").get(renamed) == Duration.of_seconds(3)
    set_both = Configuration().set_string("old.timeout", "3 s").set(renamed, Duration.of_seconds(4))
    assert set_both.get(renamed) == Duration.of_seconds(4)
    assert set_both.to_dict()["timeout"] == "4 s"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (ConfigOptions.key("k").boolean_type().no_default_value(), "true", True),
        (ConfigOptions.key("k").int_type().no_default_value(), "7", 7),
        (ConfigOptions.key("k").float_type().no_default_value(), "1", 1.0),
        (ConfigOptions.key("k").string_type().no_default_value(), "7", "7"),
        (ConfigOptions.key("k").memory_type().no_default_value(), "1 kb", 1024),
        (ConfigOptions.key("k").list_type().no_default_value(), "a;b", ["a", "b"]),
        (ConfigOptions.key("k").map_type().no_default_value(), "a:1", {"a": "1"}),
    ],
)
def test_types_of_options(option, text, value):
    assert isinstance(option, ConfigOption)
    assert Configuration().set_string("k", text).get(option) == value
    assert Configuration().set(option, value).get(option) == value


def test_numbers_have_their_width():
    with pytest.raises(ConfigurationError, match="32 bits"):
        Configuration().set_string("k", str(2**31)).get(ConfigOptions.key("k").int_type().no_default_value())
    assert Configuration().set_string("k", str(2**31)).get_integer("k", 0) == 2**31
