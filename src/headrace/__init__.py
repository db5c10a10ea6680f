"""Flink's programming model for Python, executed on Apache Spark.

A program builds a graph of operators with `headrace.datastream` (the names are PyFlink's), and `env.execute()`
runs it on Spark. This module holds nothing but the version: importing it loads neither PySpark nor any
other part of the package, so that a program pays only for what it uses.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
