"""Hostile requests to every route of a real service. `python -m fuzz_kit` is `scripts/fuzz-rest`; tests run a short version."""
