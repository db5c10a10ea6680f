"""State: key groups, keyed and operator state, timers, and the files that keep them.

Decides how state is kept, filed by key group and restored. Never runs user functions on records and never imports
pyspark. Operators use the backends; the runtime uses the
files; user programs see the interfaces and descriptors through ``headrace.datastream.state``.
"""
