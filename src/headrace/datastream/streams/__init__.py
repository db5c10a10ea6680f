"""The stream classes; programs import them from `headrace.datastream`."""
