"""PyFlink's ``pyflink.common``: types, rows, configuration, durations, watermark and restart strategies, jobs, errors.

Imports nothing heavy.
"""

from headrace.common.completable_future import CompletableFuture
from headrace.common.execution_config import ExecutionConfig
from headrace.common.execution_mode import ExecutionMode
from headrace.common.input_dependency_constraint import InputDependencyConstraint
from headrace.common.job_client import JobClient
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.common.watermark_strategy import AssignerWithPeriodicWatermarksWrapper, WatermarkStrategy
from headrace.compatibility.names import offer_pyflink_names
from headrace.config.config_options import ConfigOption, ConfigOptions
from headrace.config.configuration import Configuration
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.types.bad_record import BadRecord
from headrace.types.row import Row, RowKind
from headrace.types.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringSchema,
)
from headrace.types.serializer import TypeSerializer
from headrace.types.time import Duration, Instant, Time
from headrace.types.typeinfo import TypeInformation, Types

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "BadRecord",
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "ExecutionMode",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]

offer_pyflink_names(__name__)
