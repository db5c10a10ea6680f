"""CachedDataStream: a stream whose elements are kept after the first job that computes them, made by `DataStream.cache`.

Decides what a cached stream refuses, and how it looks in the graph: before its elements are known it is the stream that
it was made of, beside a sink that takes the elements to the driver; afterwards it is a source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.generated.collection import CachedSource
from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.stream_cache import StreamCache
from headrace.errors import InvalidProgramError
from headrace.graph.specs import CacheSink, SourceSpec
from headrace.graph.transformations import TransformationKind, TransformationRegistry

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["CachedDataStream"]


class CachedDataStream(DataStream):
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

    def __init__(self, env: StreamExecutionEnvironment, transformation_id: int, cache: StreamCache) -> None:
        """Programs call `DataStream.cache`."""
        super().__init__(env, transformation_id)
        self._cache = cache

    def invalidate(self) -> None:
        """Return the kept elements up; the next job that needs them computes and keeps them again."""
        self._cache.forget()

    # ------------------------------------------------------------------ refusals

    def get_name(self) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Get name of")

    def name(self, name: str) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set name for")

    def uid(self, uid: str) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set uid for")

    def set_uid_hash(self, uid_hash: str) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set uid hash for")

    def set_description(self, description: str) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set description for")

    def set_parallelism(self, parallelism: int) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set parallelism for")

    def set_max_parallelism(self, max_parallelism: int) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set max parallelism for")

    def force_non_parallel(self) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set force non-parallel for")

    def set_buffer_timeout(self, timeout_millis: int) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Set buffer timeout for")

    def start_new_chain(self) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Start new chain for")

    def disable_chaining(self) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Disable chaining for")

    def slot_sharing_group(self, slot_sharing_group: Any) -> NoReturn:
        """Refuse: a cached stream is no operator."""
        _refuse("Setting slot sharing group for")


def cached(stream: DataStream) -> CachedDataStream:
    """Make a cached stream of ``stream`` and have its environment look after it."""
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
    """The program in which cached streams that are known are sources, and those that are not have a sink."""
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
    """Add sinks for the cached streams of ``program`` that are not known yet; give the caches that they fill."""
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
    """That of the operator behind a view, so that nothing is exchanged on the way into the cache."""
    t = program.get(number)
    while t.kind is not TransformationKind.OPERATOR:
        t = program.get(t.inputs[0])
    return 1 if t.non_parallel else t.parallelism


def _refuse(what: str) -> NoReturn:
    raise InvalidProgramError(
        f"{what} CachedDataStream is not supported.",
        remedy="do it on the operator before cache(), or on the one after it",
    )
