"""The Kafka source: subscription and offsets are resolved in the driver, each partition is a split."""
