"""Slot processes own subtasks and their live state for the whole job; couriers bring them frames."""
