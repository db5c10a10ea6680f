"""The driver of a job: its state machine, the loop of epochs, the ledger, requests, rescaling, and restarts."""
