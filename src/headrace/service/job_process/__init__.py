"""The process of a job that the dispatcher starts."""
