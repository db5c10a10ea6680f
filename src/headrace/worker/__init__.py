"""What runs in worker processes: slots, tasks, and the exchange of records between them."""
