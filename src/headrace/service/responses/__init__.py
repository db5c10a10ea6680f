"""Convert the view of a job to Flink's JSON. Pure functions: no I/O, and the caller passes in the time."""
