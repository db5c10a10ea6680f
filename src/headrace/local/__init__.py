"""The in-process executor, with the semantics of the Spark one: for tests and for trying things out."""
