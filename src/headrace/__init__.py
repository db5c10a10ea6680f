"""Flink's programming model for Python, executed on Apache Spark.

A program builds a graph of operators with `headrace.datastream`, which uses PyFlink's names, and `env.execute()` runs it
on Spark. This module contains only the version. Importing it loads neither PySpark nor any other part of the package.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
