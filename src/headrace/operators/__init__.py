"""Running operators: pure Python, batches in, batches out. They know neither Spark nor files, and read no clock themselves.

An operator belongs to one subtask. The task (`headrace.worker`) builds a chain of them, opens it once, feeds it batches,
watermarks and clock moves, and closes it once.
"""
