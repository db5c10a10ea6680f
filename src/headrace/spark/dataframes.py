"""DataFrames and the files that headrace exchanges them through: Parquet, in a folder that driver and tasks see.

Decides how types of Spark and of streams correspond. A DataFrame is written by Spark itself, so its rows leave the JVM as
columns; what a stream has staged is read by Spark itself.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, types

from headrace.errors import InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.spark.context import spark_context
from headrace.types.data_types import DataType, DataTypes, InstantType, RowType

__all__ = [
    "checked_frame",
    "read_files",
    "row_type_of",
    "schema_from_json",
    "schema_of",
    "session_for",
    "write_files",
    "write_with",
]

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
    """The session to read and write with: the given one, or one on the context that jobs run on."""
    if isinstance(spark, SparkSession):
        return spark
    context = spark_context(spark, configuration)
    known = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    return known if known is not None and known.sparkContext is context else SparkSession(context)


def checked_frame(given: object) -> RowType:
    """The type of the rows of a DataFrame; refuses what is none."""
    if not isinstance(given, DataFrame):
        raise TypeMismatchError("from_dataframe takes a DataFrame of PySpark", seen=given, expected="a DataFrame")
    return row_type_of(given.schema)


def schema_of(given: Any) -> types.StructType:
    """The schema that a program names: a StructType, or the text of one (`"id long, item string"`)."""
    if isinstance(given, types.StructType):
        schema = given
    elif isinstance(given, str):
        try:
            parsed = types.StructType.fromDDL(given)
        except PySparkException as error:
            raise InvalidProgramError(f"Spark does not understand the schema: {error}", seen=given) from None
        schema = parsed if isinstance(parsed, types.StructType) else types.StructType()
    else:
        raise TypeMismatchError(
            "A schema is a StructType of PySpark, or its text", seen=given, expected='such as "id long, item string"'
        )
    row_type_of(schema)
    return schema


def schema_from_json(text: str) -> types.StructType:
    """The schema that `StructType.json` wrote."""
    return types.StructType.fromJson(json.loads(text))


def row_type_of(schema: types.StructType) -> RowType:
    """The type of rows that a schema describes.

    >>> from pyspark.sql.types import LongType, StructField, StructType
    >>> row_type_of(StructType([StructField("id", LongType())]))
    RowType(RowField(id, BigIntType(true)))
    """
    names = [field.name for field in schema.fields]
    if not names or len(set(names)) < len(names):
        raise InvalidProgramError(
            "Rows have columns, each with a name of its own", seen=names, remedy="select and alias the columns"
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
            f"Column {column!r} has a type that streams do not have",
            seen=kind.simpleString(),
            remedy="cast the column, to a string if there is nothing nearer",
        )
    made: DataType = make()
    return made


def write_files(frame: DataFrame, folder: str) -> list[str]:
    """Let Spark write the rows of a DataFrame; gives the files, whole, in the order of its partitions."""
    try:
        frame.write.mode("overwrite").parquet(f"file://{os.path.abspath(folder)}")
    except PySparkException as error:
        raise JobExecutionError(f"Spark could not compute the DataFrame: {error}") from error
    return sorted(glob.glob(os.path.join(glob.escape(folder), "part-*.parquet")))


def read_files(session: SparkSession, paths: Sequence[str], schema: types.StructType) -> DataFrame:
    """A DataFrame of the rows in files; one without rows if there are none."""
    empty = session.createDataFrame([], schema)  # makes the session the active one of this thread, too
    if not paths:
        return empty
    return session.read.schema(schema).parquet(*(f"file://{os.path.abspath(path)}" for path in paths))


def write_with(frame: DataFrame, name: str, options: dict[str, str], mode: str, partition_by: Sequence[str]) -> None:
    """Write a DataFrame with any batch writer of Spark."""
    writer = frame.write.format(name).mode(mode).options(**options)
    if partition_by:
        writer = writer.partitionBy(*partition_by)
    writer.save()
