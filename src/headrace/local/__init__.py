"""The in-process executor, with the semantics of the Spark executor: for tests and experiments."""
