"""The Spark executor. Only this package imports pyspark."""
