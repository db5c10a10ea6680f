"""From syntax to meaning: names, types, grouping, windows and time attributes, as logical relations.

`entries` has the functions that other packages call.
"""
