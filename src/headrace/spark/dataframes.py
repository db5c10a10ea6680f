"""Create, read and write DataFrames, and convert Spark's types to those of streams.

Streams exchange DataFrames as Parquet files in a folder that driver and tasks can access. Spark itself writes and reads
these files, so the rows leave and enter the JVM as columns. `frame_of_rows` creates a DataFrame from rows that Spark's
tasks read themselves.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, types

from headrace.errors import InvalidProgramError, JobExecutionError, StateError, TypeMismatchError
from headrace.spark.context import spark_context
from headrace.types.data_types import DataTypes
from headrace.types.logical_types import DataType, InstantType, RowType

_PLAIN: dict[type[types.DataType], Any] = {
    types.BooleanType: DataTypes.BOOLEAN,
    types.ByteType: DataTypes.TINYINT,
    types.ShortType: DataTypes.SMALLINT,
    types.IntegerType: DataTypes.INT,
    types.LongType: DataTypes.BIGINT,
    types.FloatType: DataTypes.FLOAT,
    types.DoubleType: DataTypes.DOUBLE,
    types.StringType: DataTypes.STRING,
    types.CharType: DataTypes.STRING,
    types.VarcharType: DataTypes.STRING,
    types.BinaryType: DataTypes.BYTES,
    types.DateType: DataTypes.DATE,
    types.TimestampType: InstantType,
    types.TimestampNTZType: DataTypes.TIMESTAMP,
}


def session_for(spark: Any, configuration: dict[str, str]) -> SparkSession:
    """Return the given session, or one on the context that jobs run on."""
    if isinstance(spark, SparkSession):
        return spark
    context = spark_context(spark, configuration)
    known = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    return known if known is not None and known.sparkContext is context else SparkSession(context)


def checked_frame(given: object) -> RowType:
    """Return the type of the rows of a DataFrame. Raise if `given` is not one."""
    if not isinstance(given, DataFrame):
        raise TypeMismatchError("from_dataframe needs a DataFrame of PySpark", seen=given, expected="a DataFrame")
    return row_type_of(given.schema)


def schema_of(given: Any) -> types.StructType:
    """Return the schema that a program names: a StructType, or a string such as `"id long, item string"`."""
    if isinstance(given, types.StructType):
        schema = given
    elif isinstance(given, str):
        try:
            parsed = types.StructType.fromDDL(given)
        except PySparkException as error:
            raise InvalidProgramError(f"Spark cannot parse the schema: {error}", seen=given) from None
        schema = parsed if isinstance(parsed, types.StructType) else types.StructType()
    else:
        raise TypeMismatchError(
            "A schema must be a StructType of PySpark or a string",
            seen=given,
            expected='such as "id long, item string"',
        )
    row_type_of(schema)
    return schema


def schema_from_json(text: str) -> types.StructType:
    """Return the schema that `StructType.json` wrote."""
    return types.StructType.fromJson(json.loads(text))


def row_type_of(schema: types.StructType) -> RowType:
    """Return the type of the rows that a schema describes.

    >>> from pyspark.sql.types import LongType, StructField, StructType
    >>> row_type_of(StructType([StructField("id", LongType())]))
    RowType(RowField(id, BigIntType(true)))
    """
    names = [field.name for field in schema.fields]
    if not names or len(set(names)) < len(names):
        raise InvalidProgramError(
            "Rows need at least one column, and unique column names", seen=names, remedy="select and alias the columns"
        )
    return DataTypes.ROW([DataTypes.FIELD(f.name, _data_type(f.dataType, f.name)) for f in schema.fields])


def _data_type(kind: types.DataType, column: str) -> DataType:
    if isinstance(kind, types.StructType):
        return DataTypes.ROW(
            [DataTypes.FIELD(f.name, _data_type(f.dataType, f"{column}.{f.name}")) for f in kind.fields]
        )
    if isinstance(kind, types.ArrayType):
        return DataTypes.ARRAY(_data_type(kind.elementType, column))
    if isinstance(kind, types.MapType):
        return DataTypes.MAP(_data_type(kind.keyType, column), _data_type(kind.valueType, column))
    if isinstance(kind, types.DecimalType):
        return DataTypes.DECIMAL(kind.precision, kind.scale)
    make = _PLAIN.get(type(kind))
    if make is None:
        raise InvalidProgramError(
            f"Column {column!r} has a type that streams do not support",
            seen=kind.simpleString(),
            remedy="cast the column to another type, such as string",
        )
    made: DataType = make()
    return made


def write_files(frame: DataFrame, folder: str) -> list[str]:
    """Let Spark write the rows of a DataFrame; return the complete files in the order of its partitions."""
    try:
        frame.write.mode("overwrite").parquet(f"file://{os.path.abspath(folder)}")
    except PySparkException as error:
        raise JobExecutionError(f"Spark could not compute the DataFrame: {error}") from error
    return sorted(glob.glob(os.path.join(glob.escape(folder), "part-*.parquet")))


def read_files(session: SparkSession, paths: Sequence[str], schema: types.StructType) -> DataFrame:
    """Return a DataFrame of the rows in files; an empty one if there are no files."""
    empty = session.createDataFrame([], schema)  # also makes the session the active one of this thread
    if not paths:
        return empty
    return session.read.schema(schema).parquet(*(f"file://{os.path.abspath(path)}" for path in paths))


def frame_of_rows(
    spark: Any, readers: Sequence[Callable[[], Iterable[Any]]], columns: list[str], sample: list[Any], schema: Any
) -> DataFrame:
    """Return a DataFrame with a partition for each reader; infer its schema from a sample of its rows if there is none."""
    session = session_for(spark, {})
    if schema is None:
        try:
            schema = session.createDataFrame(sample, columns).schema
        except (PySparkException, TypeError, ValueError) as error:
            raise StateError(
                f"Spark cannot infer the types of the state: {error}",
                seen=sample[0],
                expected="values that Spark has types for, all of the same type",
                remedy="pass a schema, or convert the state to plain values with transform_keyed_state first.",
            ) from error
    rows = session.sparkContext.parallelize(readers, len(readers)).flatMap(lambda read: read())
    return session.createDataFrame(rows, schema)


def write_with(frame: DataFrame, name: str, options: dict[str, str], mode: str, partition_by: Sequence[str]) -> None:
    """Write a DataFrame with any batch writer of Spark."""
    writer = frame.write.format(name).mode(mode).options(**options)
    if partition_by:
        writer = writer.partitionBy(*partition_by)
    writer.save()
