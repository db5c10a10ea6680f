"""The dispatcher: store jobs on disk, start a process for each, and restart it when it crashes."""
