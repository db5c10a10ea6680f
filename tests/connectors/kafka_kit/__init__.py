"""A real Kafka broker for tests, and small ways to write and read topics."""
