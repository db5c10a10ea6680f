"""Transcripts: semantics written as data, and the ways to replay them (harness, local executor, Spark, Flink itself)."""
