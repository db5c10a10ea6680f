"""Current and old state backends, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.datastream.old_state_backends import FsStateBackend, MemoryStateBackend, RocksDBStateBackend
from headrace.datastream.state_backends import (
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    PredefinedOptions,
    StateBackend,
)

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "FsStateBackend",
    "HashMapStateBackend",
    "MemoryStateBackend",
    "PredefinedOptions",
    "RocksDBStateBackend",
    "StateBackend",
]

offer_pyflink_names(__name__)
