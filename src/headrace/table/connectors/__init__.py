"""The connectors of tables: one factory a module, over the connectors of streams."""
