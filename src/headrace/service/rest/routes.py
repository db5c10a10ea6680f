"""All routes in matching order: paths with fixed names before paths with variables."""

from __future__ import annotations

from headrace.service.rest import cluster, jobs, programs, savepoints, task_managers, vertices
from headrace.service.rest.backend import Backend
from headrace.service.rest.endpoint import Endpoint

_MODULES = (cluster, programs, jobs, savepoints, task_managers, vertices)
ENDPOINTS: tuple[Endpoint[Backend], ...] = tuple(
    sorted((e for module in _MODULES for e in module.ENDPOINTS), key=lambda endpoint: endpoint.path.count("{"))
)
