from headrace.common import Types
from headrace.types.java_hash import double_hash, hash_map_order, long_hash, string_hash, to_int32


def test_long_texts_hash_as_short_ones_do():
    text = "abcdefghij" * 10
    expected = 0
    for character in text:
        expected = (expected * 31 + ord(character)) % 2**32
    assert string_hash(text) == to_int32(expected)
    assert string_hash(text[:31]) == to_int32(sum(ord(c) * 31**i for i, c in enumerate(reversed(text[:31]))))


def test_lone_surrogates_hash():
    assert string_hash("\ud800") == 0xD800


def test_halves_of_longs():
    assert long_hash(-(2**63)) == to_int32(0x80000000)
    assert double_hash(0.0) == 0
    assert double_hash(float("nan")) == double_hash(-float("nan"))


def test_order_of_other_keys_is_kept():
    keys = [(2, 1), (1, 2), (0, 0)]
    assert hash_map_order(keys, Types.TUPLE([Types.INT(), Types.INT()])) == keys
    assert hash_map_order([5], Types.INT()) == [5]
    assert hash_map_order(range(20, 0, -1), Types.INT()) == list(range(1, 21))
