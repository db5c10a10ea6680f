"""Scopes: what a metric describes, and the prefix of its name in reports, with Flink's formats and variables.

The variables of a scope replace those of a format such as `<host>.jobmanager.<job_name>`. A format that begins with `*.`
extends the format of the enclosing scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.errors import ConfigurationError
from headrace.metrics.values import Path, Value

JOB, TASK_MANAGER, TASK, OPERATOR = "jm-job", "tm", "task", "operator"
_LOGICAL = {
    JOB: ("jobmanager", "job"),
    TASK_MANAGER: ("taskmanager",),
    TASK: ("taskmanager", "job", "task"),
    OPERATOR: ("taskmanager", "job", "task", "operator"),
}
_MANAGER = ("host",)
_WORKER = ("host", "tm_id")
_OF_JOB = ("job_id", "job_name")
_OF_TASK = ("task_id", "task_name", "task_attempt_id", "task_attempt_num", "subtask_index")
_KNOWN = {
    "jm": _MANAGER,
    JOB: _MANAGER + _OF_JOB,
    TASK_MANAGER: _WORKER,
    "tm-job": _WORKER + _OF_JOB,
    TASK: _WORKER + _OF_JOB + _OF_TASK,
    OPERATOR: (*_WORKER, *_OF_JOB, *_OF_TASK, "operator_id", "operator_name"),
}
_PARENTS = {JOB: "jm", "tm-job": TASK_MANAGER, TASK: "tm-job", OPERATOR: TASK}
_DEFAULTS = {
    "jm": "<host>.jobmanager",
    JOB: "<host>.jobmanager.<job_name>",
    TASK_MANAGER: "<host>.taskmanager.<tm_id>",
    "tm-job": "<host>.taskmanager.<tm_id>.<job_name>",
    TASK: "<host>.taskmanager.<tm_id>.<job_name>.<task_name>.<subtask_index>",
    OPERATOR: "<host>.taskmanager.<tm_id>.<job_name>.<operator_name>.<subtask_index>",
}
_OLDER = {JOB: "metrics.scope.jm.job", "tm-job": "metrics.scope.tm.job"}
_VARIABLE = re.compile(r"<([^<>]*)>")


@dataclass(frozen=True)
class Scope:
    """What a metric describes: a job, a worker process, a task or an operator, with the variables that name it."""

    kind: str
    variables: Mapping[str, str]

    @property
    def logical(self) -> tuple[str, ...]:
        """Return the scope without variables, for systems that have labels.

        >>> Scope(TASK, {}).logical
        ('taskmanager', 'job', 'task')
        """
        return _LOGICAL[self.kind]


@dataclass(frozen=True)
class Sample:
    """One metric with its current value."""

    scope: Scope
    path: Path
    value: Value

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return str(self.path[-1])

    @property
    def groups(self) -> dict[str, str]:
        """Return the key/value groups of the path.

        >>> from headrace.metrics.values import Count
        >>> Sample(Scope(TASK, {}), ("orders", ("country", "de"), "late"), Count(1)).groups
        {'country': 'de'}
        """
        return {part[0]: part[1] for part in self.path[:-1] if not isinstance(part, str)}


@dataclass(frozen=True)
class ScopeFormats:
    """The formats of a configuration.

    >>> formats = ScopeFormats.read({"metrics.scope.task": "*.<task_name>"})
    >>> formats.parts(Scope(TASK, {"host": "h", "tm_id": "7", "job_name": "j", "task_name": "Map"}))
    ['h', 'taskmanager', '7', 'j', 'Map']
    """

    formats: Mapping[str, str] = field(default_factory=lambda: dict(_DEFAULTS))
    delimiter: str = "."

    @classmethod
    def read(cls, configuration: Mapping[str, str]) -> ScopeFormats:
        """Return the checked formats of `metrics.scope.*`."""
        formats: dict[str, str] = {}
        for kind, default in _DEFAULTS.items():
            key = f"metrics.scope.{kind}"
            text = configuration.get(key) or configuration.get(_OLDER.get(kind, key)) or default
            if text.startswith("*.") and kind in _PARENTS:
                text = f"{formats[_PARENTS[kind]]}.{text[2:]}"
            for name in _VARIABLE.findall(text):
                if name not in _KNOWN[kind]:
                    known = ", ".join(f"<{one}>" for one in _KNOWN[kind])
                    raise ConfigurationError(f"{key} has an unknown variable", seen=f"<{name}>", expected=known)
            formats[kind] = text
        return cls(formats, configuration.get("metrics.scope.delimiter") or ".")

    def parts(self, scope: Scope) -> list[str]:
        """Return the parts of a scope with its variables replaced."""
        names = self.formats[scope.kind].split(".")
        return [_VARIABLE.sub(lambda found: scope.variables.get(found.group(1), ""), name) for name in names]
