"""StreamExecutionEnvironment: creates the sources of a program and runs it.

Passes the job graph to the runtime, which is imported only then.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.common.job_client import JobClient
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.compatibility.ignored_settings import warn_of_options
from headrace.compatibility.jars import warn_of_jar_options
from headrace.compatibility.names import offer_pyflink_names
from headrace.config import pipeline_keys
from headrace.config.configuration import Configuration, value_of
from headrace.config.headrace_keys import PRE_AGGREGATE
from headrace.connectors.base.source import Source as SourceDefinition
from headrace.connectors.feedback import FeedbackSource
from headrace.connectors.files.source import Files
from headrace.connectors.files.text_file import TextLines
from headrace.connectors.functions.function_source import FunctionSource
from headrace.connectors.generated.collection import CollectionSource
from headrace.connectors.generated.number_sequence import NumberSequence
from headrace.connectors.socket_text import SocketText
from headrace.datastream.checkpointing_options import CheckpointingOptions
from headrace.datastream.execution_mode import RuntimeExecutionMode
from headrace.datastream.notebook import show_live
from headrace.datastream.planning import plan_reached
from headrace.datastream.streams.cached_data_stream import StreamCache, keep_for_later, with_caches
from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.iterative_stream import check_iterations
from headrace.errors import InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.functions import ParallelSourceFunction, SourceFunction
from headrace.functions.checks import check_function
from headrace.graph import drawing
from headrace.graph.job_graph import JobGraph, build_job_graph
from headrace.graph.json_plan import plan_as_json
from headrace.graph.pre_aggregation import with_local_aggregates
from headrace.graph.specs import SourceSpec
from headrace.graph.stream_graph import GraphSettings, StreamGraph, build_stream_graph
from headrace.graph.transformations import TransformationKind, TransformationRegistry
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.driver.job_master import JobMaster

__all__ = ["StreamExecutionEnvironment"]
offer_pyflink_names(__name__)

_DEFAULT_NAME = "Flink Streaming Job"


class StreamExecutionEnvironment(CheckpointingOptions):
    """Creates sources, holds the settings of a program, and runs it.

    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> sink = env.from_collection([1, 2, 3]).map(lambda number: number * 2).print()
    >>> [vertex.name for vertex in env.get_job_graph().vertices.values()]
    ['Source: Collection Source', 'Map -> Sink: Print to Std. Out']
    """

    def __init__(self, configuration: Configuration | None = None, *, spark: Any = None) -> None:
        """Programs call `get_execution_environment`."""
        super().__init__(configuration, spark=spark)
        self.registry = TransformationRegistry()
        self.caches: dict[int, StreamCache] = {}

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None, *, spark: Any = None
    ) -> StreamExecutionEnvironment:
        """Return a new environment.

        ``spark`` is a SparkSession or SparkContext to run on. Without it, headrace starts Spark on this machine, or
        connects to the ``spark.master`` of the configuration, when the program runs.

        >>> configuration = Configuration()
        >>> configuration = configuration.set_string("parallelism.default", "4")
        >>> StreamExecutionEnvironment.get_execution_environment(configuration).get_parallelism()
        4
        """
        if configuration is not None and not isinstance(configuration, Configuration):
            raise TypeMismatchError("get_execution_environment takes a Configuration", seen=configuration)
        return StreamExecutionEnvironment(configuration, spark=spark)

    def separate(self, options: Mapping[str, str]) -> StreamExecutionEnvironment:
        """Return an environment for a program of its own, with more options.

        Streams of this environment can be used there; sinks of this one are not part of its program. Tables run so.
        """
        other = copy.copy(self)
        configuration = Configuration(self._configuration).add_all(Configuration.from_dict(options))
        other._configuration = configuration  # noqa: SLF001 - the copy is made here
        other._execution_config = self._execution_config.over(configuration)  # noqa: SLF001
        other.registry = self.registry.separate()
        return other

    def from_collection(self, collection: Iterable[Any], type_info: TypeInformation | None = None) -> DataStream:
        """Return a stream of the elements of ``collection``, converted to ``type_info`` if given.

        >>> from headrace.common import Types
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([[1, "a"]], Types.TUPLE([Types.INT(), Types.STRING()])).get_type()
        TupleTypeInfo(Integer, String)
        """
        if isinstance(collection, (str, bytes)) or not isinstance(collection, Iterable):
            raise TypeMismatchError("from_collection takes a collection", seen=collection, expected="a list")
        from headrace.types.codecs import codec_for

        kept = declared_type(type_info, "type_info")
        elements = codec_for(kept, wrap=True).coerce(list(collection))
        return self._source(
            CollectionSource(elements, kept), WatermarkStrategy.no_watermarks(), "Collection Source", kept
        )

    def from_source(
        self,
        source: Any,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """Return a stream of the records of a source of `headrace.datastream.connectors`."""
        definition = source if isinstance(source, SourceDefinition) else _definition(source)
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise TypeMismatchError(
                "from_source takes a watermark strategy after the source",
                seen=watermark_strategy,
                expected="a WatermarkStrategy, e.g. WatermarkStrategy.no_watermarks()",
            )
        kept = declared_type(type_info, "type_info")
        if kept is None:
            kept = getattr(source, "type_info", None) or definition.produced_type
        return self._source(definition, watermark_strategy, source_name, kept)

    def add_source(
        self, source_func: Any, source_name: str = "Custom Source", type_info: TypeInformation | None = None
    ) -> DataStream:
        """Return a stream of the elements of a SourceFunction, or of a connector that PyFlink programs pass here."""
        from headrace.connectors.base.definitions import Source

        if isinstance(source_func, Source):
            strategy = WatermarkStrategy.no_watermarks()
            return self.from_source(source_func, strategy, source_name, type_info)
        check_function(source_func, (SourceFunction,), ("run", "cancel"), "The input must be a SourceFunction!")
        definition = FunctionSource(source_func, parallel=isinstance(source_func, ParallelSourceFunction))
        kept = declared_type(type_info, "type_info")
        return self._source(definition, WatermarkStrategy.no_watermarks(), source_name, kept)

    def from_sequence(self, start: int, end: int) -> DataStream:
        """Return a stream of the numbers from ``start`` to ``end``, inclusive.

        >>> StreamExecutionEnvironment.get_execution_environment().from_sequence(1, 10).get_type()
        Long
        """
        sequence = NumberSequence(start, end)
        return self._source(sequence, WatermarkStrategy.no_watermarks(), "Sequence Source", sequence.produced_type)

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """Return a stream of the lines of a file, of all files in a directory, or of those that match a pattern."""
        files = Files((str(file_path),), TextLines(charset_name))
        return self._source(files, WatermarkStrategy.no_watermarks(), "Custom File Source", files.produced_type)

    def socket_text_stream(self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> DataStream:
        """Return a stream of the lines that a server sends; ``max_retry`` is how often to reconnect, -1 for no limit.

        >>> StreamExecutionEnvironment.get_execution_environment().socket_text_stream("localhost", 9999).get_name()
        'Socket Stream'
        """
        lines = SocketText(hostname, port, delimiter, max_retry)
        return self._source(lines, WatermarkStrategy.no_watermarks(), "Socket Stream", lines.produced_type)

    def from_dataframe(
        self,
        dataframe: Any,
        watermark_strategy: WatermarkStrategy | None = None,
        source_name: str = "DataFrame",
        *,
        directory: str | None = None,
        trigger: Mapping[str, Any] | None = None,
    ) -> DataStream:
        """Return a stream of the rows of a PySpark DataFrame, as `Row`s with the names and types of its columns.

        A batch DataFrame is a bounded source. A streaming one (``isStreaming``) is unbounded. Its ``trigger`` has the
        arguments of ``DataStreamWriter.trigger``, such as ``{"availableNow": True}``, which ends the stream when all
        available data has been read. Rows are stored in files until they are processed: in ``directory``, which all
        machines must see and which outlives the driver, else in ``headrace.state.directory`` while the driver runs.
        Needs ``headrace[formats]``.
        """
        from headrace.connectors.dataframes.source import source_of

        parent = self._configuration.to_dict().get("headrace.state.directory")
        source = source_of(dataframe, directory, parent, trigger)
        return self.from_source(source, watermark_strategy or WatermarkStrategy.no_watermarks(), source_name)

    def create_input(self, input_format: Any, type_info: TypeInformation | None = None) -> DataStream:
        """Return a stream of the records of an input format, such as `AvroInputFormat`."""
        from headrace.formats.avro import AvroInputFormat

        if not isinstance(input_format, AvroInputFormat):
            raise TypeMismatchError(
                "create_input takes an input format",
                seen=input_format,
                expected="an AvroInputFormat",
                remedy="use from_source() with a FileSource",
            )
        files = Files((str(input_format.path),), input_format.file_format)
        kept = declared_type(type_info, "type_info") or files.produced_type
        return self._source(files, WatermarkStrategy.no_watermarks(), "Custom Source", kept)

    def _source(
        self, source: SourceDefinition, strategy: WatermarkStrategy, name: str, output_type: TypeInformation | None
    ) -> DataStream:
        if not isinstance(name, str):
            raise TypeMismatchError("The name of a source must be a string", seen=name, expected="a str")
        operator = self.registry.add(
            TransformationKind.OPERATOR,
            (),
            spec=SourceSpec(source, strategy),
            name=f"Source: {name}",
            output_type=output_type,
            non_parallel=source.non_parallel,
            max_parallelism=1 if source.non_parallel else None,
        )
        return DataStream(self, operator)

    def get_stream_graph(self, job_name: str | None = None) -> StreamGraph:
        """Return the program as operators and edges."""
        return self._stream_graph(with_caches(self.registry, self.caches), job_name)

    def _stream_graph(self, program: TransformationRegistry, job_name: str | None) -> StreamGraph:
        if not self.get_config().has_auto_generated_uids_enabled():
            _check_uids(program)
        settings = self._settings(job_name)
        if not any(t.inputs for t in program):  # unused sources do not make a program, as in Flink
            raise InvalidProgramError(
                "No operators defined in streaming topology. Cannot execute.",
                remedy="build a pipeline (source, operators, sink) on this environment before execute().",
            )
        check_iterations(program, settings.batch)
        return with_local_aggregates(build_stream_graph(program, settings))

    def get_job_graph(self, job_name: str | None = None) -> JobGraph:
        """Return the program as it runs: operators chained into tasks."""
        return build_job_graph(self.get_stream_graph(job_name))

    def get_execution_plan(self) -> str:
        """Return the plan as Flink's JSON; the program can still be run.

        >>> import json
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> sink = env.from_collection([1]).print()
        >>> [node["pact"] for node in json.loads(env.get_execution_plan())["nodes"]]
        ['Data Source', 'Data Sink']
        """
        return plan_as_json(self.get_stream_graph())

    def draw(self, format: str = "mermaid") -> str:
        """Return a diagram of the chained plan: ``mermaid`` for Markdown, ``graphviz`` for ``dot``, or ``svg``.

        >>> env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
        >>> sink = env.from_collection([1]).map(str).print()
        >>> print(env.draw())
        flowchart LR
            v1(["Source: Collection Source<br/>Map<br/>Sink: Print to Std. Out<br/>x 1"])
        """
        if format not in drawing.PICTURES:
            raise InvalidProgramError("Unknown diagram format", seen=format, expected=" or ".join(drawing.PICTURES))
        return drawing.PICTURES[format](self.get_job_graph())

    def _settings(self, job_name: str | None) -> GraphSettings:
        maximum = self.get_max_parallelism()
        return GraphSettings(
            parallelism=self.get_parallelism(),
            max_parallelism=maximum if maximum > 0 else None,
            chaining_enabled=self.is_chaining_enabled(),
            chain_across_max_parallelism=self.is_chaining_of_operators_with_different_max_parallelism_enabled(),
            batch=self._is_batch(),
            pre_aggregate=value_of(self._configuration, PRE_AGGREGATE),
            job_name=job_name or value_of(self._configuration, pipeline_keys.JOB_NAME),
        )

    def _is_batch(self) -> bool:
        mode = self.get_runtime_mode()
        sources = [(t, t.spec.source) for t in self.registry.program() if isinstance(t.spec, SourceSpec)]
        loops = any(isinstance(source, FeedbackSource) for _, source in sources)
        unbounded = [t for t, source in sources if not source.bounded and not isinstance(source, FeedbackSource)]
        if mode is RuntimeExecutionMode.BATCH and unbounded:
            raise unbounded[0].invalid(
                f"Detected an UNBOUNDED source with the '{pipeline_keys.RUNTIME_MODE.key}' set to 'BATCH'. "
                "This combination is not allowed, please set it to STREAMING or AUTOMATIC"
            )
        automatic = mode is RuntimeExecutionMode.AUTOMATIC and not unbounded and not loops
        return mode is RuntimeExecutionMode.BATCH or automatic

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program and wait until it finishes. Raise the error of a failed job. Ctrl-C stops the job.

        A job with a name (``headrace.job.id``) continues from its last checkpoint when it is started again.
        """
        job = self.submit(job_name)
        try:
            result = job.wait()
        except KeyboardInterrupt:
            job.interrupt()
            try:
                job.wait()
            except JobExecutionError:
                pass
            raise
        for cache in self.caches.values():
            cache.settle()
        return result

    def execute_async(self, job_name: str = _DEFAULT_NAME) -> JobClient:
        """Start the program and return a client that controls it. In a notebook, show a live table."""
        job = self.submit(job_name)
        show_live(job, job_name)
        return JobClient(job)

    def submit(self, job_name: str | None = None) -> JobMaster:
        """Start the program as built since the last run; streams can be extended afterwards."""
        program = with_caches(self.registry, self.caches)
        kept = keep_for_later(program, self.caches) if self._is_batch() else []
        graph = self._stream_graph(program, job_name)
        plan_reached(graph)
        from headrace.submission import submit

        warn_of_options(self._configuration.to_dict())
        warn_of_jar_options(self._configuration.to_dict())
        self.registry.start_new_program()
        configuration = self.get_configuration()
        backend = self.get_state_backend()
        if backend is not None:
            backend.configure(configuration)
        job = submit(
            build_job_graph(graph),
            configuration,
            spark=self._spark,
            restart_strategy=self.get_config().get_restart_strategy(),
        )
        for cache in kept:
            cache.fill_from(job)
        return job

    def spark_session(self) -> Any:
        """Return the SparkSession that the jobs of this environment run on, and start Spark if needed."""
        from headrace.spark.dataframes import session_for

        settings = self._configuration.to_dict()
        return session_for(self._spark, {k: str(v) for k, v in settings.items() if k.startswith("spark.")})

    def close(self) -> None:
        """Do nothing: an environment holds no resources."""


def _check_uids(program: TransformationRegistry) -> None:
    for t in program:
        if t.kind is TransformationKind.OPERATOR and t.uid is None and t.uid_hash is None:
            raise InvalidProgramError(
                "Auto generated UIDs have been disabled but no UID or hash has been assigned to operator "
                f"{t.name.split(': ')[-1]}",
                operator_name=t.name,
                remedy="call uid() on it, or enable_auto_generated_uids() on the execution configuration",
            )


def _definition(source: Any) -> SourceDefinition:
    from headrace.connectors.base.definitions import Source

    if isinstance(source, Source):
        return source.get_definition()
    raise TypeMismatchError(
        "from_source takes a source",
        seen=source,
        expected="a source of headrace.datastream.connectors",
        remedy="use add_source() for a SourceFunction"
        if isinstance(source, SourceFunction)
        else "call build() on it first"
        if hasattr(source, "build")
        else None,
    )
