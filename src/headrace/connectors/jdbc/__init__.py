"""Databases as a sink: PostgreSQL, MySQL, MariaDB, and SQLite."""
