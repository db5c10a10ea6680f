"""Complex event processing: patterns of events, found in streams with the semantics of Flink's CEP library.

A `Pattern` describes what to look for, `CEP.pattern` applies it to a stream, and the `PatternStream` turns matches into results.
"""

from headrace.cep.after_match_skip_strategy import AfterMatchSkipStrategy
from headrace.cep.conditions import IterativeCondition, SimpleCondition
from headrace.cep.functions import (
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from headrace.cep.pattern import GroupPattern, Pattern
from headrace.cep.pattern_stream import CEP, PatternStream
from headrace.cep.step_builder import WithinType
from headrace.graph.cep_pattern import MalformedPatternException

__all__ = [
    "CEP",
    "AfterMatchSkipStrategy",
    "GroupPattern",
    "IterativeCondition",
    "MalformedPatternException",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternStream",
    "PatternTimeoutFunction",
    "SimpleCondition",
    "TimedOutPartialMatchHandler",
    "WithinType",
]
