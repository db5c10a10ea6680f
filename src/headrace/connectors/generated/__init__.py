"""Sources without an outer system: collections, number sequences, and generated records."""
