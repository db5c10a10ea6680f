"""The routes of Flink's REST API: what each path takes, and which JSON it gives. Knows no HTTP library."""
