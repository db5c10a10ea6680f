"""State: key groups, keyed and operator state, timers, and the files that keep them.

Decides how state is held, filed by key group and brought back. Never runs user functions on records, never imports
pyspark, and imports nothing of headrace but ``headrace.common``. Operators use the backends; the runtime uses the
files; user programs see the interfaces and descriptors through ``headrace.datastream.state``.
"""
