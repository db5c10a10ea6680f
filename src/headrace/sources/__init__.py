"""Sources: a frozen definition that lists splits (driver) and opens readers (tasks). One file per source."""
