"""The exchange of records between subtasks: frames, channels, buffers and writers."""
