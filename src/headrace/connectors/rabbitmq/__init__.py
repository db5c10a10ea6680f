"""RabbitMQ as a source and a sink."""
