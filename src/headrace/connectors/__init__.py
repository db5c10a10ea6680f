"""Connectors: one room for each system, with its source, sink, committer, and client."""
