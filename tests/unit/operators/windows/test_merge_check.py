"""When `merge` of an aggregate function counts as proven right."""

from __future__ import annotations

import math
import threading
from typing import Any

import pytest

from headrace.datastream.functions import AggregateFunction
from headrace.operators.windows.folding import AggregatedContents, ReducedContents
from headrace.operators.windows.merge_check import MergeCheck


class Sum(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class ForgetsTheSum(Sum):
    def merge(self, acc_a, acc_b):
        return acc_a[0], acc_a[1] + acc_b[1]


class Largest(Sum):
    def create_accumulator(self):
        return -math.inf

    def add(self, value, accumulator):
        return max(value, accumulator)

    def merge(self, acc_a, acc_b):
        return max(acc_a, acc_b)


class KeepsFirst(Largest):
    def merge(self, acc_a, acc_b):
        return acc_a


class Mean(Sum):
    """Rounds differently when it merges."""

    def create_accumulator(self):
        return {"mean": 0.0, "count": 0}

    def add(self, value, accumulator):
        count = accumulator["count"] + 1
        return {"mean": accumulator["mean"] + (value - accumulator["mean"]) / count, "count": count}

    def merge(self, acc_a, acc_b):
        count = acc_a["count"] + acc_b["count"]
        mean = (acc_a["mean"] * acc_a["count"] + acc_b["mean"] * acc_b["count"]) / count
        return {"mean": mean, "count": count}


class Box:
    def __init__(self):
        self.values = []


class Slotted:
    __slots__ = ("values",)

    def __init__(self):
        self.values = []


class Boxes(Sum):
    """Accumulators without equality of their own, changed in place."""

    box = Box

    def create_accumulator(self):
        return self.box()

    def add(self, value, accumulator):
        accumulator.values.append(value)
        return accumulator

    def merge(self, acc_a, acc_b):
        acc_a.values += acc_b.values
        return acc_a


class SlottedBoxes(Boxes):
    box = Slotted


class ForgetfulBoxes(Boxes):
    def merge(self, acc_a, acc_b):
        return acc_a


class Vector:
    """Compares like an array: element by element."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def __add__(self, other):
        return Vector(a + b for a, b in zip(self.numbers, other.numbers, strict=True))

    def __eq__(self, other):
        return Vector(a == b for a, b in zip(self.numbers, other.numbers, strict=True))

    def all(self):
        return all(self.numbers)

    def __bool__(self):
        raise ValueError("ambiguous")

    __hash__ = None


class Vectors(Sum):
    def create_accumulator(self):
        return Vector((0, 0))

    def add(self, value, accumulator):
        return accumulator + Vector((value, 1))

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Locked(Sum):
    """Cannot be copied."""

    def create_accumulator(self):
        return threading.Lock()

    def add(self, value, accumulator):
        return accumulator


class Strict(Sum):
    def add(self, value, accumulator):
        raise ValueError(value)


def passes(function, *values):
    return MergeCheck(AggregatedContents(function)).passes(["a"] * len(values), [0] * len(values), values)


@pytest.mark.parametrize("function", [Sum(), Largest(), Mean(), Boxes(), SlottedBoxes(), Vectors()])
def test_a_right_merge_passes(function):
    assert passes(function, 0.1, 0.7, 3.3, 4.4)


@pytest.mark.parametrize("function", [ForgetsTheSum(), KeepsFirst(), ForgetfulBoxes(), Locked(), Strict()])
def test_a_wrong_merge_does_not(function):
    assert not passes(function, 1, 2, 3, 4)


def test_values_that_only_grow_are_enough_for_a_maximum():
    assert passes(Largest(), 1, 2)
    assert not passes(KeepsFirst(), 1, 2)


def test_as_long_as_nothing_is_proven_nothing_passes():
    check = MergeCheck(AggregatedContents(Largest()))
    assert not check.passes(["a", "b"], [0, 0], [1, 2])  # not of one key
    assert not check.passes(["a", "a"], [0, 5], [1, 2])  # not of one pane
    assert not check.passes(["a", "a"], [0, 0], [3, 3])  # neither shows what merge does with the other
    assert check.passes(["a", "a"], [0, 0], [1, 2])
    assert check.passes(["a"], [0], [1])


def test_one_wrong_answer_is_enough():
    check = MergeCheck(AggregatedContents(KeepsFirst()))
    assert not check.passes(["a", "a"], [0, 0], [1, 2])
    assert not check.passes(["a", "a"], [0, 0], [3, 3])


def test_a_pair_that_hides_the_error_is_followed_by_others():
    assert not passes(ForgetsTheSum(), 0, 0, 0, 0, 0, 7)


def test_records_are_copied_before_they_are_tried():
    class Keeps(Sum):
        def create_accumulator(self):
            return []

        def add(self, value, accumulator):
            value.append("seen")
            return accumulator + value

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    records = [["x"], ["y"]]
    assert MergeCheck(AggregatedContents(Keeps())).passes(["a", "a"], [0, 0], records)
    assert records == [["x"], ["y"]]


def test_a_reduce_function_needs_no_check():
    assert MergeCheck(ReducedContents(max)).passes([], [], [])
