"""The directories of the job service and the local cluster: one rule for both and for their clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headrace.config.headrace_keys import CLUSTER_DIRECTORY, SERVICE_DIRECTORY


def service_directory(settings: Mapping[str, str]) -> Path:
    """Return the directory of the job service. If only the cluster's directory is set, it is in there.

    >>> str(service_directory({"headrace.service.dir": "/data/service"}))
    '/data/service'
    >>> str(service_directory({"headrace.cluster.dir": "/data/cluster"}))
    '/data/cluster/service'
    """
    if named := settings.get(SERVICE_DIRECTORY.key):
        return Path(named)
    if named := settings.get(CLUSTER_DIRECTORY.key):
        return Path(named) / "service"
    return Path.home() / ".headrace" / "service"


def cluster_directory(settings: Mapping[str, str]) -> Path:
    """Return the directory of the local cluster.

    >>> str(cluster_directory({"headrace.cluster.dir": "/data/cluster"}))
    '/data/cluster'
    """
    return Path(settings.get(CLUSTER_DIRECTORY.key) or Path.home() / ".headrace" / "cluster")
