"""Pickling state to bytes, and safely back.

Decides which classes a state file may contain. Never reads files. Every durable pickle is loaded here, because classes
may have moved since it was written (``moved_classes``). In manifests, JSON values stay readable (``packed``).

Two codecs:

- ``PLAIN``: ``pickle``. The bytes contain the names of classes. The unpickler resolves only safe builtins, some value
  classes of the standard library, classes of headrace, and everything in the modules of the job (``allowed_modules``).
  It refuses anything else by name, so a foreign file cannot run code. Only a running job that reads its own files
  (``allowed_modules=None``) may load any class.
- ``BY_VALUE``: ``cloudpickle``, used only for a block that ``pickle`` cannot write, because a class in it cannot be
  imported (defined in ``__main__`` of another process, or inside a function). Such bytes contain code, and loading them
  runs it. So it is refused unless the caller passes ``trust_job_code=True``; no list of names could make it safe, so
  none is applied then. The loaded class is a copy, unless the process has the original.
"""

from __future__ import annotations

import base64
import builtins
import io
import math
import pickle
from collections.abc import Collection
from enum import Enum
from types import FunctionType
from typing import Any, Final

from headrace.errors import StateError
from headrace.state.moved_classes import current_module

PLAIN: Final = "p"
BY_VALUE: Final = "c"

_BUILTINS = frozenset(
    "bool bytearray bytes complex dict float frozenset int list object range set slice str tuple Ellipsis".split()
)
# Value classes of the standard library. Only these names, since the rest of a module may do anything.
_STANDARD: dict[str, frozenset[str]] = {
    "array": frozenset({"array", "_array_reconstructor"}),
    "collections": frozenset({"ChainMap", "Counter", "OrderedDict", "UserDict", "UserList", "defaultdict", "deque"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "decimal": frozenset({"Decimal"}),
    "fractions": frozenset({"Fraction"}),
    "ipaddress": frozenset({"IPv4Address", "IPv4Network", "IPv6Address", "IPv6Network"}),
    "types": frozenset({"SimpleNamespace"}),
    "uuid": frozenset({"SafeUUID", "UUID"}),
    "zoneinfo": frozenset({"ZoneInfo"}),
}
_ALIASES = {"_decimal": "decimal", "_pydecimal": "decimal", "_pydatetime": "datetime", "_collections": "collections"}
# Functions that headrace's own classes name in __reduce__.
_REBUILDERS = ("_create_", "_rebuild")


def _getattr(owner: Any, name: str) -> Any:
    """Replace ``getattr`` in pickles: only members of enums, and the class method that ZoneInfo needs."""
    if isinstance(owner, type) and issubclass(owner, Enum) and name in owner.__members__:
        return owner[name]
    if getattr(owner, "__module__", "") == "zoneinfo" and name == "_unpickle":
        return owner._unpickle  # noqa: SLF001 - what ZoneInfo.__reduce__ names
    raise StateError(f"A state file asks for the attribute {name!r} of {owner!r}, which is not allowed")


def _within(module: str, prefixes: Collection[str]) -> bool:
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


def _refused(module: str, name: str, why: str) -> StateError:
    return StateError(
        f"A state file asks for {module}.{name}, which {why}",
        seen=f"{module}.{name}",
        expected="builtin and standard value classes, classes of headrace, and classes in the job's own modules",
        remedy=f"if the job keeps such values in its state, name {module.split('.', maxsplit=1)[0]!r} among its "
        "allowed modules; if not, the file is foreign: do not use it",
    )


class _TrustingUnpickler(pickle.Unpickler):
    """Resolves every class, also those that moved since the pickle was written."""

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(current_module(module, name), name)


class _SafeUnpickler(_TrustingUnpickler):
    def __init__(self, stream: io.BytesIO, allowed_modules: Collection[str]) -> None:
        super().__init__(stream)
        self._allowed_modules = allowed_modules

    def find_class(self, module: str, name: str) -> Any:
        module = current_module(module, name)
        if module == "builtins":
            if name == "getattr":
                return _getattr
            if name in _BUILTINS or _is_exception(name):
                return super().find_class(module, name)
            raise _refused(module, name, "is not a safe builtin")
        standard = _ALIASES.get(module, module)
        if standard in _STANDARD and name in _STANDARD[standard]:
            return super().find_class(standard, name)
        if _within(module, self._allowed_modules):
            return self._of_module(module, name, functions=("",))
        if _within(module, ("headrace",)):
            return self._of_module(module, name, functions=_REBUILDERS)
        raise _refused(module, name, "is not in a module that is allowed")

    def _of_module(self, module: str, name: str, functions: tuple[str, ...]) -> Any:
        try:
            found = super().find_class(module, name)
        except (ImportError, AttributeError) as error:
            raise StateError(
                f"A state file contains values of {module}.{name}, which does not exist here: {error}",
                remedy="run the job with the code that wrote the state, or keep the class under its old name",
            ) from error
        # A module's namespace also contains its imports, and dotted names walk through it ("module", "os.system").
        if isinstance(found, type | FunctionType):
            if found.__module__ != module and not _within(found.__module__, ("headrace", *self._allowed_modules)):
                raise _refused(found.__module__, found.__qualname__, "is not in a module that is allowed")
            if isinstance(found, type) or found.__name__.startswith(functions):
                return found
        elif _is_constant(found):
            return found
        raise _refused(module, name, "is not a class")


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)


def _is_constant(found: Any) -> bool:
    """Return whether it is an instance that is pickled by its name, like TOMBSTONE."""
    return not callable(found) and type(found).__module__.startswith("headrace.")


def dump(value: Any) -> tuple[str, bytes]:
    """Return the codec that was necessary, and the bytes.

    >>> dump([1, 2])[0]
    'p'
    >>> dump(lambda: 1)[0]
    'c'
    """
    try:
        return PLAIN, pickle.dumps(value, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError) as plain_error:
        try:
            import cloudpickle

            return BY_VALUE, cloudpickle.dumps(value, protocol=5)
        except Exception:
            raise plain_error from None


def load(
    codec: str, data: bytes | memoryview, *, allowed_modules: Collection[str] | None = (), trust_job_code: bool = False
) -> Any:
    """Return the dumped value, or raise ``StateError``. ``allowed_modules=None`` allows all modules.

    >>> load(*dump({"a": [1, 2]}))
    {'a': [1, 2]}
    >>> import os
    >>> load(PLAIN, pickle.dumps(os.system))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    headrace.errors.StateError: A state file asks for posix.system, which is not in a module that is allowed...
    """
    try:
        if codec == PLAIN:
            if allowed_modules is None:
                return _TrustingUnpickler(io.BytesIO(data)).load()  # only what the running job itself has written
            return _SafeUnpickler(io.BytesIO(data), allowed_modules).load()
        if codec != BY_VALUE:
            raise StateError(f"Unknown codec {codec!r}", expected=f"{PLAIN!r} or {BY_VALUE!r}")
        if not trust_job_code:
            raise StateError(
                "The state contains objects of classes that cannot be imported, with their code",
                expected="values of classes that can be imported",
                remedy="move the classes into a module of the job; or trust the file's code with trust_job_code=True",
            )
        return _TrustingUnpickler(io.BytesIO(data)).load()  # only because the caller trusts it
    except StateError:
        raise
    except Exception as error:
        raise StateError(f"The state cannot be read: {type(error).__name__}: {error}") from error


def packed(value: Any) -> dict[str, Any]:
    """Return JSON data from which `unpacked` makes an equal value of the same types.

    >>> packed({"file": "part-1", "size": 3})
    {'json': {'file': 'part-1', 'size': 3}}
    >>> sorted(packed((1, 2)))
    ['codec', 'pickle']
    """
    if _is_json(value):
        return {"json": value}
    codec, data = dump(value)
    return {"codec": codec, "pickle": base64.b64encode(data).decode("ascii")}


def unpacked(data: dict[str, Any]) -> Any:
    """Return the value that was packed.

    >>> unpacked(packed((1, {2: b"x"})))
    (1, {2: b'x'})
    """
    if "json" in data:
        return data["json"]
    return load(data["codec"], base64.b64decode(data["pickle"]), allowed_modules=None, trust_job_code=True)


def _is_json(value: Any) -> bool:
    """Return whether JSON restores it exactly. Members of an IntEnum, for example, would become plain integers."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    if kind is list:
        return all(map(_is_json, value))
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_json, value.values()))
    return value is None or kind in (str, int, bool)
