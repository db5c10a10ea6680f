"""What runs inside the process of a job that the dispatcher has started."""
