"""The formats of tables: how the bytes of a record or a file become rows in internal form, and back."""
