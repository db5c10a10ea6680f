"""The stream classes, one file each; programs import them from `headrace.datastream`."""
