"""The built-in aggregate functions: one module for each kind, each with a tuple `FUNCTIONS`."""
