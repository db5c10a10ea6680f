"""The crash model of the checkpoint protocol: a store, sinks and a job in memory, faults at every step, a verifier."""
