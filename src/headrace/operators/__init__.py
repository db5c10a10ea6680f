"""Running operators: pure Python, batches in, batches out. No Spark, no clock of their own, no files.

An operator belongs to one subtask. The task (`headrace.worker`) builds a chain of them, opens it once, feeds it batches,
watermarks and clock moves, and closes it once.
"""
