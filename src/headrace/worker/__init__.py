"""Everything in worker processes: slots, tasks, and the exchange of records. Imports nothing from the driver."""
