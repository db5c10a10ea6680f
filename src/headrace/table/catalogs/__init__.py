"""What tables, views and functions there are: schemas, catalogs, and the manager that resolves their names."""
