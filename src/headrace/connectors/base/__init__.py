"""What every source and sink is made of: definitions, splits, readers, writers, and committers."""
