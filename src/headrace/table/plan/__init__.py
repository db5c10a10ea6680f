"""Plans of queries: resolved expressions (`rex`), logical relations, physical nodes, and their translation to a job."""
