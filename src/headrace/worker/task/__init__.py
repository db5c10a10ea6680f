"""A task: one subtask of each vertex of a task group, with its operators and its state."""
