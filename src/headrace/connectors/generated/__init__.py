"""Sources without an external system: collections, number sequences, and generated records."""
