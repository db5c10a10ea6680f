"""DataFrames out of rows that Spark's tasks read themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headrace.errors import StateError
from headrace.spark.context import spark_context

__all__ = ["data_frame"]


def data_frame(
    spark: Any, readers: Sequence[Callable[[], Iterable[Any]]], columns: list[str], sample: list[Any], schema: Any
) -> Any:
    """A DataFrame with a partition for each reader; without a schema it is inferred from a sample of its rows."""
    context = spark_context(spark, {})
    session = spark if isinstance(spark, SparkSession) else SparkSession(context)
    if schema is None:
        try:
            schema = session.createDataFrame(sample, columns).schema
        except (PySparkException, TypeError, ValueError) as error:
            raise StateError(
                f"The state has no form that Spark can infer: {error}",
                seen=sample[0],
                expected="values that Spark has types for, all of one type",
                remedy="give a schema; or turn the state into plain values with transform_keyed_state first.",
            ) from error
    rows = context.parallelize(readers, len(readers)).flatMap(lambda read: read())
    return session.createDataFrame(rows, schema)
