"""The five queues in RabbitMQ."""
