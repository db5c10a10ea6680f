"""What others see of a running job: its view, metrics, back pressure, flame graphs, and progress."""
