"""CEP applies a pattern to a stream."""

from __future__ import annotations

from typing import Any

from headrace.cep.pattern import Pattern
from headrace.cep.pattern_stream import PatternStream
from headrace.datastream import DataStream
from headrace.errors import TypeMismatchError
from headrace.operators.cep.compiler import compile_pattern

__all__ = ["CEP"]


class CEP:
    """The entry point of pattern detection.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> rising = Pattern.begin("low").where(lambda number: number < 3).next("high").where(lambda number: number > 7)
    >>> matches = CEP.pattern(env.from_collection([1, 9]), rising)
    >>> matches.select(lambda match: (match["low"], match["high"])).get_name()
    'GlobalCepOperator'
    """

    @staticmethod
    def pattern(stream: DataStream, pattern: Pattern, comparator: Any = None) -> PatternStream:
        """Look for ``pattern`` in ``stream``: per key on a keyed stream, else in all events together, in one subtask.

        ``comparator`` orders events of the same time: a callable of two events that returns a negative number, zero or a
        positive one, or an object with such a ``compare``.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> words = env.from_collection(["to", "be"]).key_by(len)
        >>> CEP.pattern(words, Pattern.begin("word")).select(lambda match: match["word"]).get_name()
        'CepOperator'
        """
        if not isinstance(stream, DataStream):
            raise TypeMismatchError("CEP.pattern takes a stream", seen=stream, expected="a DataStream or KeyedStream")
        if not isinstance(pattern, Pattern):
            raise TypeMismatchError("CEP.pattern takes a pattern", seen=pattern, expected="a Pattern")
        if comparator is not None and not callable(getattr(comparator, "compare", comparator)):
            raise TypeMismatchError("A comparator is a callable of two events, or has compare(a, b)", seen=comparator)
        data = pattern.data()
        compile_pattern(data)
        return PatternStream(stream, data, comparator)
