"""Files as a source and a sink."""
