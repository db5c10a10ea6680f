"""Checkpoints: the protocol that makes state durable and output exactly once.

Decisions (`derive`, `resolve`, `gc`, `coordinator`) are pure functions over what was seen; `workflow` gives the protocol
as a sequence of instructions; `interpreter` carries them out on a store and a committer. Never runs tasks, never
imports the runtime: the driver's loop uses this package.
"""
