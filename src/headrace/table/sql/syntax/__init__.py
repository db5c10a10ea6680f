"""The syntax tree of Flink SQL: frozen nodes, without behaviour.

`expressions` has what computes a value, `relations` and `queries` what yields rows, `tables` and `statements` the rest.
Every node knows the offset of its first character in the text (`position`), which is not part of its equality.
"""
