"""Windows: what they are, who assigns them, when they fire, and the operators that run them.

Programs import the public names from `headrace.datastream.window`.
"""
