"""How records travel between subtasks: frames, channels, routing, and the wire to a slot process."""
