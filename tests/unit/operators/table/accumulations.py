"""Small aggregate functions for tests of operators."""

from headrace.table.functions.definition import Accumulation


class Sum(Accumulation):
    """SUM: (sum, number of values); null if there is none."""

    can_retract = True

    def create(self):
        return (0, 0)

    def add(self, accumulator, value):
        return accumulator if value is None else (accumulator[0] + value, accumulator[1] + 1)

    def retract(self, accumulator, value):
        return accumulator if value is None else (accumulator[0] - value, accumulator[1] - 1)

    def result(self, accumulator):
        return accumulator[0] if accumulator[1] else None


class Count(Accumulation):
    """COUNT of all rows."""

    can_retract = True

    def create(self):
        return 0

    def add(self, accumulator, *arguments):
        return accumulator + (None not in arguments)

    def retract(self, accumulator, *arguments):
        return accumulator - (None not in arguments)

    def result(self, accumulator):
        return accumulator


class Last(Accumulation):
    """LAST_VALUE, which cannot be retracted: a list, changed in place."""

    can_retract = False

    def create(self):
        return [None]

    def add(self, accumulator, value):
        accumulator[0] = value
        return accumulator

    def result(self, accumulator):
        return accumulator[0]


class Largest(Last):
    """MAX, which cannot be retracted."""

    def add(self, accumulator, value):
        if value is not None and (accumulator[0] is None or value > accumulator[0]):
            accumulator[0] = value
        return accumulator
