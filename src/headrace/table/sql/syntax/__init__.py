"""The syntax tree of Flink SQL: frozen nodes, without behaviour.

`expressions` contains nodes that compute a value, `queries` nodes that yield rows, `tables` and `statements` the rest.
Every node has the offset of its first character in the script (`position`), which does not count for equality.
"""
