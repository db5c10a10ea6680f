"""WithoutSettings: reject the settings of operators on a stream that is not an operator. Base of keyed and cached streams."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from headrace.datastream.streams.data_stream import DataStream
from headrace.errors import InvalidProgramError


class WithoutSettings(DataStream):
    """A stream that has no name, uid or parallelism, because it is not an operator.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1]).key_by(lambda number: number).name("keyed")
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: Set name for KeyedStream is not supported. [INVALID_PROGRAM]
      remedy:   call it on the operator after key_by(): the result of process(), reduce(), map(), ...
    """

    _instead: ClassVar[str]

    def _reject(self, what: str) -> NoReturn:
        raise InvalidProgramError(f"{what} {type(self).__name__} is not supported.", remedy=self._instead)

    def get_name(self) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Get name of")

    def name(self, name: str) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set name for")

    def uid(self, uid: str) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set uid for")

    def set_uid_hash(self, uid_hash: str) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set uid hash for")

    def set_description(self, description: str) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set description for")

    def set_parallelism(self, parallelism: int) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set parallelism for")

    def set_max_parallelism(self, max_parallelism: int) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set max parallelism for")

    def force_non_parallel(self) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set force non-parallel for")

    def set_buffer_timeout(self, timeout_millis: int) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Set buffer timeout for")

    def start_new_chain(self) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Start new chain for")

    def disable_chaining(self) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Disable chaining for")

    def slot_sharing_group(self, slot_sharing_group: Any) -> NoReturn:
        """Raise an error: this stream is not an operator."""
        self._reject("Setting slot sharing group for")
