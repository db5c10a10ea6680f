"""Several sources read one after the other."""
