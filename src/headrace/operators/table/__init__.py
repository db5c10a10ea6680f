"""Operators of tables and SQL: rows or columns of changes in, rows or columns of changes out. `factory` makes them."""
