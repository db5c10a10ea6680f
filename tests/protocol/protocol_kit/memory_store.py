"""A store in memory that can fail: records that are visible but not durable, torn records, damage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.checkpoint import names
from headrace.checkpoint.errors import DamagedRecordError, RecordMissingError
from headrace.checkpoint.model import FileEntry


class Torn:
    """The content of a record whose write was interrupted, or that was damaged. `before` is for the verifier only."""

    def __init__(self, before: Any = None) -> None:
        self.before = before


class MemoryStore:
    def __init__(self) -> None:
        self.folders: dict[str, dict[str, Any]] = {
            f: {} for f in (names.GENERATIONS, names.PLANS, names.LOG, names.MARKERS, names.FILES, names.TEMPORARIES)
        }
        self.undurable: set[str] = set()
        self.on_create: Callable[[str, Any], None] = lambda name, record: None
        self.on_delete: Callable[[str], None] = lambda name: None
        self.on_remove: Callable[[], None] = lambda: None
        self._temporaries = 0

    # -- what the protocol may do -----------------------------------------------------------------------------------

    def settle(self) -> None:
        self.undurable.clear()

    def create(self, name: str, content: Any, inside: Callable[[], None] | None = None) -> bool:
        if not self._put(name, content):
            return False
        self.on_create(name, content)
        return True

    def read(self, name: str) -> Any:
        try:
            content = self._folder(name)[name]
        except KeyError:
            raise RecordMissingError(name) from None
        if type(content) is Torn:
            raise DamagedRecordError(name, "torn")
        return content

    def list(self, folder: str) -> list[str]:
        return sorted(self.folders[folder])

    def delete(self, name: str) -> None:
        self.on_delete(name)
        self.vanish(name)

    def remove_all(self) -> None:
        self.on_remove()
        for folder in self.folders.values():
            folder.clear()

    def problem_of(self, file: FileEntry) -> str | None:
        content = self.folders[names.FILES].get(names.FILES + file.name)
        if content is None:
            return "missing"
        return "torn" if type(content) is Torn else None

    # -- what the model does to it ----------------------------------------------------------------------------------

    def create_torn(self, name: str) -> bool:
        """Break the first promise of a store."""
        return self._put(name, Torn())

    def vanish(self, name: str) -> None:
        self._folder(name).pop(name, None)
        self.undurable.discard(name)

    def leave_temporary(self, generation: int) -> None:
        self._temporaries += 1
        self._put(names.temporary_name(generation, str(self._temporaries)), Torn())

    def lose_power(self) -> None:
        for name in list(self.undurable):
            self.vanish(name)

    def damage(self, name: str) -> None:
        folder = self._folder(name)
        folder[name] = Torn(folder[name])

    def truth(self, name: str) -> Any:
        """Return what was written, even if it has been damaged since."""
        content = self._folder(name).get(name)
        return content.before if type(content) is Torn else content

    def all_names(self) -> list[str]:
        return [name for folder in self.folders.values() for name in folder]

    def _put(self, name: str, content: Any) -> bool:
        folder = self._folder(name)
        if name in folder:
            return False
        folder[name] = content
        return True

    def _folder(self, name: str) -> dict[str, Any]:
        return self.folders[name[: name.index("/") + 1]]
