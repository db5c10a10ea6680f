"""The Kafka sink: messages go out at once, or are staged in files and sent in a transaction with the checkpoint."""
