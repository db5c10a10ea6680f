"""The dispatcher: keeps jobs on disk, starts a process for each, watches it, and starts it again when it crashed."""
