"""Windows as programs see them: window types, assigners, triggers, and evictors."""
