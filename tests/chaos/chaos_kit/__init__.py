"""Crash tests on real processes and files: a job, what kills it, and a verifier that knows nothing of headrace."""
