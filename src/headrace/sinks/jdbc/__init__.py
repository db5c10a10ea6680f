"""Writing rows into a database: at least once by a writer alone, exactly once by staging and committing."""
