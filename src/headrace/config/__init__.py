"""Configuration: every key with its default, how values are parsed, where settings come from, and who reads them."""
