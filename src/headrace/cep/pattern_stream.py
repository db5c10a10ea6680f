"""CEP applies a pattern to a stream: PatternStream, to which a function for matches is applied.

Decides which operator is added and with which function; never looks at an event. As in Flink, settings return new objects.
"""

from __future__ import annotations

import copy
from typing import Any

from headrace.cep.functions import (
    FlatSelectAdapter,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    SelectAdapter,
    check_pair,
)
from headrace.cep.pattern import Pattern
from headrace.common.output_tag import OutputTag
from headrace.datastream import DataStream
from headrace.errors import TypeMismatchError
from headrace.functions.checks import check_function, check_or_callable
from headrace.graph.cep_pattern import PatternData
from headrace.graph.specs import Cep
from headrace.operators.cep.compiler import compile_pattern
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation


class PatternStream:
    """Made by `CEP.pattern`; event time by default.

    >>> from headrace.cep import CEP, Pattern
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> found = CEP.pattern(env.from_collection(["a", "b"]), Pattern.begin("a").next("b")).in_processing_time()
    >>> found.select(lambda match: match["b"][0]).get_name()
    'GlobalCepOperator'
    """

    _late_tag: str | None = None
    _event_time = True

    def __init__(self, stream: DataStream, pattern: PatternData, comparator: Any = None) -> None:
        """Programs call `CEP.pattern`."""
        self._stream = stream
        self._pattern = pattern
        self._comparator = comparator

    def in_event_time(self) -> PatternStream:
        """Take times from the events' timestamps; events wait for the watermark."""
        return self._with(_event_time=True)

    def in_processing_time(self) -> PatternStream:
        """Take times from the clock; events are handled when they arrive."""
        return self._with(_event_time=False)

    def side_output_late_data(self, late_data_output_tag: OutputTag) -> PatternStream:
        """Send events that are late to a side output; otherwise they are dropped and counted."""
        if not isinstance(late_data_output_tag, OutputTag):
            raise TypeMismatchError("side_output_late_data takes an OutputTag", seen=late_data_output_tag)
        return self._with(_late_tag=late_data_output_tag.tag_id)

    def process(self, pattern_process_function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a PatternProcessFunction; if it has `process_timed_out_match`, it sees timed-out matches too."""
        check_function(
            pattern_process_function,
            (PatternProcessFunction,),
            ("process_match",),
            "The input must be a PatternProcessFunction!",
        )
        return self._build(pattern_process_function, output_type)

    def select(
        self,
        select_function: Any,
        timeout_tag: OutputTag | None = None,
        timeout_fn: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return one result per match; with a tag and a timeout function, one per timed-out match in a side output.

        The arguments may also come in the order of Flink's Java API: the tag, the timeout function, the select function.
        """
        given = select_function, timeout_tag, timeout_fn, output_type
        select_function, timeout_tag, timeout_fn, output_type = _arguments(*given)
        message = "The input must be a PatternSelectFunction or a callable function"
        check_or_callable(select_function, PatternSelectFunction, message)
        check_pair(timeout_tag, timeout_fn, PatternTimeoutFunction)
        return self._build(SelectAdapter.of(select_function, timeout_tag, timeout_fn), output_type)

    def flat_select(
        self,
        flat_select_function: Any,
        timeout_tag: OutputTag | None = None,
        timeout_fn: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return any number of results per match, and per timed-out match in a side output.

        The arguments may also come in the order of Flink's Java API, like those of `select`.
        """
        given = flat_select_function, timeout_tag, timeout_fn, output_type
        flat_select_function, timeout_tag, timeout_fn, output_type = _arguments(*given)
        message = "The input must be a PatternFlatSelectFunction or a callable function"
        check_or_callable(flat_select_function, PatternFlatSelectFunction, message)
        check_pair(timeout_tag, timeout_fn, PatternFlatTimeoutFunction)
        return self._build(FlatSelectAdapter.of(flat_select_function, timeout_tag, timeout_fn), output_type)

    def _build(self, func: Any, output_type: TypeInformation | None) -> DataStream:
        spec = Cep(self._pattern, func, self._event_time, self._comparator, self._late_tag)
        kept = declared_type(output_type)
        if self._stream.is_keyed:
            return self._stream.one_input_operator(spec, "CepOperator", kept)
        alone = self._stream.key_by(_no_key).one_input_operator(spec, "GlobalCepOperator", kept)
        return alone.force_non_parallel()

    def _with(self, **changes: Any) -> PatternStream:
        changed = copy.copy(self)
        vars(changed).update(changes)
        return changed


def _arguments(function: Any, tag: Any, timeout: Any, type_info: Any) -> tuple[Any, Any, Any, Any]:
    """Return the arguments of select and flat_select in one order, given in this order or in that of the Java API."""
    if isinstance(tag, TypeInformation):
        return function, None, timeout, tag
    if not isinstance(function, OutputTag):
        return function, tag, timeout, type_info
    if isinstance(timeout, TypeInformation):
        return type_info, function, tag, timeout
    return timeout, function, tag, type_info


def _no_key(event: Any) -> int:
    """Return the same key for all events of a stream without keys."""
    return 0


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
