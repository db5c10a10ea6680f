"""The built-in functions of SQL and the Table API: what they accept, what type they return, how they compute."""
