"""Sinks: where a job's output goes, staged by tasks and committed by the driver with a checkpoint."""
