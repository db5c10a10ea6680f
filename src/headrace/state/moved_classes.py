"""The current modules of classes that old durable files name by an earlier path.

State files, positions of sources and staged output contain pickles, and a pickle names a class by the module that
defined it. When such a module moves, its old path stays here, so that savepoints of every earlier version can be
restored. A path needs no entry while it still offers the class, for example as a re-export. Besides the classes that
headrace itself writes, programs can put anything they import into state: rows, times, windows, types, and classes
defined in ``__main__``, whose pickles name their base classes and what their methods use.

Used by ``headrace.state.safe_pickle`` for every pickle that may be older than the running code.
"""

from __future__ import annotations

MOVED_PACKAGES = {
    "headrace.common.codecs": "headrace.types.codecs",
    "headrace.common.typeinfo": "headrace.types.typeinfo",
    "headrace.datastream.formats": "headrace.formats",
    "headrace.datastream.functions": "headrace.functions",
}
"""Packages that moved with all their modules; none of their own modules is left at the old path."""

MOVED_MODULES = {
    "headrace.cep.cep": "headrace.cep.pattern_stream",
    "headrace.cep.group_pattern": "headrace.cep.pattern",
    "headrace.cep.within_type": "headrace.cep.step_builder",
    "headrace.common.bad_record": "headrace.types.bad_record",
    "headrace.common.codecs": "headrace.types.codecs",
    "headrace.common.column_run": "headrace.types.column_run",
    "headrace.common.data_types": "headrace.types.data_types",
    "headrace.common.errors": "headrace.errors",
    "headrace.common.types": "headrace.types.row",
    "headrace.connectors.kafka.subscription": "headrace.connectors.kafka.enumerator",
    "headrace.datastream.connectors.data_frame_source": "headrace.connectors.dataframes.source",
    "headrace.datastream.functions.async_retry_predicates": "headrace.functions.async_retry_strategies",
    "headrace.datastream.functions.broadcast_process_functions": "headrace.functions.process_functions",
    "headrace.datastream.functions.checkpointed_functions": "headrace.functions.function",
    "headrace.datastream.functions.co_functions": "headrace.functions.element_functions",
    "headrace.datastream.functions.co_process_functions": "headrace.functions.process_functions",
    "headrace.datastream.functions.java_function_wrapper": "headrace.functions.function",
    "headrace.datastream.functions.selection_functions": "headrace.functions.element_functions",
    "headrace.functions.async_retry_predicates": "headrace.functions.async_retry_strategies",
    "headrace.functions.broadcast_process_functions": "headrace.functions.process_functions",
    "headrace.functions.checkpointed_functions": "headrace.functions.function",
    "headrace.functions.selection_functions": "headrace.functions.element_functions",
    "headrace.graph.malformed_pattern": "headrace.graph.cep_pattern",
    "headrace.operators.windows.assigner": "headrace.windows.assigner",
    "headrace.operators.windows.continuous_triggers": "headrace.windows.continuous_triggers",
    "headrace.operators.windows.count_triggers": "headrace.windows.count_windows",
    "headrace.operators.windows.count_windows": "headrace.windows.count_windows",
    "headrace.operators.windows.evictors": "headrace.windows.evictors",
    "headrace.operators.windows.global_windows": "headrace.windows.count_windows",
    "headrace.operators.windows.serializers": "headrace.windows.window_types",
    "headrace.operators.windows.sessions": "headrace.windows.session_windows",
    "headrace.operators.windows.sliding": "headrace.windows.time_windows",
    "headrace.operators.windows.time_triggers": "headrace.windows.time_triggers",
    "headrace.operators.windows.trigger": "headrace.windows.trigger",
    "headrace.operators.windows.tumbling": "headrace.windows.time_windows",
    "headrace.operators.windows.window_types": "headrace.windows.window_types",
    "headrace.operators.windows.wrapping_triggers": "headrace.windows.wrapping_triggers",
    "headrace.sinks.commit_requests": "headrace.connectors.base.commit_requests",
    "headrace.sources.base": "headrace.connectors.base.split_enumerator",
    "headrace.sources.feedback": "headrace.connectors.feedback",
    "headrace.sources.files": "headrace.connectors.files.file_format",
    "headrace.sources.kafka.source": "headrace.connectors.kafka.enumerator",
    "headrace.windows.count_triggers": "headrace.windows.count_windows",
    "headrace.windows.global_windows": "headrace.windows.count_windows",
    "headrace.windows.serializers": "headrace.windows.window_types",
    "headrace.windows.sliding_windows": "headrace.windows.time_windows",
    "headrace.windows.tumbling_windows": "headrace.windows.time_windows",
}
"""Modules that moved whole."""

MOVED_NAMES: dict[tuple[str, str], str] = {}
"""Single classes and constants, by old module and name, that moved without the rest of their module."""


def current_module(module: str, name: str) -> str:
    """Return the module that has ``name`` today, given the module that a pickle names.

    >>> current_module("headrace.operators.windows.window_types", "TimeWindow")
    'headrace.windows.window_types'
    >>> current_module("headrace.datastream.functions.element_functions", "MapFunction")
    'headrace.functions.element_functions'
    >>> current_module("my_job", "Visit")
    'my_job'
    """
    if not module.startswith("headrace."):
        return module
    found = MOVED_NAMES.get((module, name)) or MOVED_MODULES.get(module)
    if found is None:
        package, _, last = module.rpartition(".")
        found = f"{MOVED_PACKAGES[package]}.{last}" if package in MOVED_PACKAGES else module
    return found
