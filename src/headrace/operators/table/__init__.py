"""Operators of tables: they know rows, columns and kinds of changes, but no SQL.

Every module has an operator and its frozen spec, whose `create_operator` makes the running operator.
"""
