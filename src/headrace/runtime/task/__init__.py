"""What runs in the workers: frames, channels, chains of operators, resident subtasks, the slot process and its courier.

Never imports driver code.
"""
