"""Run statements other than queries: DDL, INSERT, SHOW, DESCRIBE, USE, SET, EXPLAIN."""
