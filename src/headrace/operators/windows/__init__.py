"""The operators that run windows. Assigners, triggers and evictors are in `headrace.windows`."""
