"""Sources and sinks that programs write themselves."""
