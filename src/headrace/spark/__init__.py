"""The Spark executor. Only this package imports PySpark."""
