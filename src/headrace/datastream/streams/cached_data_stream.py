"""CachedDataStream: a stream whose elements are kept after the first job that computes them; see `DataStream.cache`.

Decides how it appears in the graph: before its elements are known, it is the original stream plus a sink that sends the
elements to the driver; afterwards it is a source. The elements are known after a job that succeeded; a separate thread
collects them, because a job delivers its results while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from headrace.common.job_status import JobStatus
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.generated.collection import CachedSource
from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.without_settings import WithoutSettings
from headrace.errors import HeadraceError, InvalidProgramError
from headrace.graph.specs import CacheSink, SourceSpec
from headrace.graph.transformations import TransformationKind, TransformationRegistry

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment


class _Job(Protocol):
    def results(self, collect_id: str) -> Iterator[Any]: ...
    def wait(self) -> Any: ...
    def status(self) -> JobStatus: ...


class StreamCache:
    """The elements of one stream with their timestamps, or nothing yet.

    >>> class Job:
    ...     def results(self, collect_id):
    ...         return iter([("a", 1), ("b", None)])
    ...
    ...     def wait(self): ...
    ...
    ...     def status(self):
    ...         return JobStatus.FINISHED
    >>> cache = StreamCache("words")
    >>> cache.elements() is None
    True
    >>> cache.fill_from(Job())
    >>> cache.elements()
    [('a', 1), ('b', None)]
    >>> cache.forget()
    >>> cache.elements() is None
    True
    """

    def __init__(self, collect_id: str) -> None:
        """Create an empty cache; jobs deliver the elements under the name `collect_id`."""
        self.collect_id = collect_id
        self._elements: list[Any] | None = None
        self._filling: Thread | None = None
        self._job: _Job | None = None

    def elements(self) -> list[Any] | None:
        """Return the elements with their timestamps, or None if they are not known yet."""
        if self._job is not None and self._job.status().is_globally_terminal_state():
            self.settle()  # the last of them are still being delivered
        return self._elements

    def fill_from(self, job: _Job) -> None:
        """Collect the elements that ``job`` computes, if it succeeds."""
        self._job = job
        self._filling = Thread(target=self._fill, args=(job,), name=f"headrace-cache-{self.collect_id}", daemon=True)
        self._filling.start()

    def settle(self) -> None:
        """Wait until the job that computes the elements has finished."""
        if self._filling is not None:
            self._filling.join()
            self._filling = self._job = None

    def forget(self) -> None:
        """Discard the elements; the next job computes them again."""
        self.settle()
        self._elements = None

    def _fill(self, job: _Job) -> None:
        try:
            elements = list(job.results(self.collect_id))
            job.wait()
        except HeadraceError:
            return  # the caller that waits for the job gets its error
        self._elements = elements


class CachedDataStream(WithoutSettings):
    """A stream that later jobs of the same environment read without computing it again; in batch mode only, as in Flink.

    >>> from headrace.common import Configuration
    >>> from headrace.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
    >>> configuration = Configuration().set_string("headrace.executor", "local")
    >>> env = StreamExecutionEnvironment.get_execution_environment(configuration)
    >>> env = env.set_runtime_mode(RuntimeExecutionMode.BATCH).set_parallelism(1)
    >>> squares = env.from_collection([1, 2, 3]).map(lambda number: number**2).cache()
    >>> list(squares.execute_and_collect())
    [1, 4, 9]
    >>> list(squares.map(lambda square: -square).execute_and_collect())  # nothing is squared again
    [-1, -4, -9]
    >>> squares.invalidate()
    """

    _instead = "call it on the operator before cache(), or on the one after it"

    def __init__(self, env: StreamExecutionEnvironment, transformation_id: int, cache: StreamCache) -> None:
        """Programs call `DataStream.cache`."""
        super().__init__(env, transformation_id)
        self._cache = cache

    def invalidate(self) -> None:
        """Discard the cached elements; the next job that needs them computes them again."""
        self._cache.forget()


def cached(stream: DataStream) -> CachedDataStream:
    """Create a cached stream of ``stream`` and register it with its environment."""
    env, t = stream.get_execution_environment(), stream.transformation
    if t.kind is TransformationKind.PARTITION:
        raise InvalidProgramError(
            "A partitioned stream cannot be cached",
            remedy="call cache() before the partitioning, or on the operator after it",
        )
    view = env.registry.add(TransformationKind.UNION, (t.id,), output_type=t.output_type, name="Cache")
    env.caches[view] = StreamCache(f"cache-{view}")
    return CachedDataStream(env, view, env.caches[view])


def with_caches(registry: TransformationRegistry, caches: dict[int, StreamCache]) -> TransformationRegistry:
    """Return the program with cached streams whose elements are known replaced by sources."""
    known = {number: elements for number, cache in caches.items() if (elements := cache.elements()) is not None}
    program = registry.program(without_inputs=known)
    for number, elements in known.items():
        if number in program:
            source = SourceSpec(
                CachedSource(elements, program.get(number).output_type), WatermarkStrategy.no_watermarks()
            )
            program.update(
                number,
                kind=TransformationKind.OPERATOR,
                inputs=(),
                spec=source,
                name="Source: CacheRead",
                uid=f"cache-read-{number}",
            )
    return program


def keep_for_later(program: TransformationRegistry, caches: dict[int, StreamCache]) -> list[StreamCache]:
    """Add sinks for the cached streams of ``program`` that are not known yet. Return the caches that they fill."""
    filled = [number for number in caches if number in program and program.get(number).inputs]
    for number in filled:
        t = program.get(number)
        program.add(
            TransformationKind.OPERATOR,
            (number,),
            spec=CacheSink(caches[number].collect_id, t.output_type),
            name="CacheWrite",
            uid=f"cache-write-{number}",
            is_sink=True,
            parallelism=_parallelism_of(program, number),
        )
    return [caches[number] for number in filled]


def _parallelism_of(program: TransformationRegistry, number: int) -> int | None:
    """Return the parallelism of the operator behind a view, which avoids an exchange before the cache."""
    t = program.get(number)
    while t.kind is not TransformationKind.OPERATOR:
        t = program.get(t.inputs[0])
    return 1 if t.non_parallel else t.parallelism
