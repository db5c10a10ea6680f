"""From syntax to meaning: names, types, grouping, windows and time attributes, as logical relations."""
