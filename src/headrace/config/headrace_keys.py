"""All keys below `headrace.`: type, default, and meaning where the name does not say it; and Flink's keys of the service.

A `headrace.` key that is not defined here is rejected. `docs/configuration.md` must list each key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headrace.config.config_options import ConfigOptions

_key = ConfigOptions.OptionBuilder

EXECUTOR = _key("headrace.executor").string_type().default_value("spark")
EPOCH_TARGET = _key("headrace.epoch.target-ms").double_type().default_value(1000.0)
BOUNDED_EPOCH_TARGET = _key("headrace.epoch.bounded-target-ms").double_type().default_value(4000.0)
FIRST_EPOCH_RECORDS = _key("headrace.epoch.first-records").double_type().default_value(5_000.0)
MAX_EPOCH_RECORDS = _key("headrace.epoch.max-records").double_type().default_value(1_000_000.0)
IDLE_POLL = _key("headrace.epoch.idle-poll-ms").double_type().default_value(50.0)
TASK_TIMEOUT = _key("headrace.task.timeout").duration_type().no_default_value()
"""How long a task may work in one epoch before its process is killed and the job fails; no limit if not set."""
WATERMARK_RECORDS = _key("headrace.watermark.interval-records").double_type().default_value(1000.0)
PRE_AGGREGATE = _key("headrace.windows.pre-aggregate").boolean_type().default_value(True)
STATE_DIRECTORY = _key("headrace.state.directory").string_type().no_default_value()
PROGRESS = _key("headrace.progress").string_type().default_value("auto")
RESCALE_FILE = _key("headrace.rescale.file").string_type().no_default_value()
TESTING_CLOCK = _key("headrace.testing.clock").long_type().no_default_value()
JOB_ID = _key("headrace.job.id").string_type().no_default_value()
"""The name of the job. A job with a name continues from its last checkpoint when the program starts again."""
TRUST = _key("headrace.state.trust").boolean_type().default_value(False)
"""Whether to restore a savepoint that does not carry this user's signature."""

SERVICE_DIRECTORY = _key("headrace.service.dir").string_type().no_default_value()
SERVICE_AUTHENTICATION = _key("headrace.service.authentication").string_type().default_value("token")
"""`token`, or `none` for clients on loopback that cannot send a token. With `none`, any user of the machine has full access."""
SERVICE_TOKEN_FILE = _key("headrace.service.token-file").string_type().no_default_value()
SERVICE_CERTIFICATE = _key("headrace.service.tls.certificate").string_type().no_default_value()
"""A PEM file with the certificate of the service, which then uses HTTPS."""
SERVICE_KEY = _key("headrace.service.tls.key").string_type().no_default_value()
"""A PEM file with the private key of that certificate."""
SERVICE_CLIENT_CA = _key("headrace.service.tls.client-ca").string_type().no_default_value()
"""A PEM file with certificates. Only clients with a certificate signed by one of them are admitted."""
SERVICE_CONTROL_ADDRESS = _key("headrace.service.control-address").string_type().default_value("127.0.0.1")
"""The address on which job processes listen for the dispatcher; an address of this machine if there are several dispatchers."""
SERVICE_RESTART_ATTEMPTS = _key("headrace.service.restart-attempts").int_type().default_value(10)
"""How often the process of a job may crash within an hour before the job fails."""
SERVICE_KEPT_JOBS = _key("headrace.service.kept-jobs").int_type().default_value(200)
"""How many finished jobs are kept, with their history."""
CLIENT_CERTIFICATE = _key("headrace.client.tls.certificate").string_type().no_default_value()
"""A PEM file with the client certificate of the command line."""
CLIENT_KEY = _key("headrace.client.tls.key").string_type().no_default_value()
"""A PEM file with the private key of that certificate."""
CLIENT_CA = _key("headrace.client.tls.ca").string_type().no_default_value()
"""A PEM file with the certificates that the command line uses to verify an HTTPS service."""
UI = _key("headrace.ui").boolean_type().default_value(False)
"""Whether a program serves REST and the web UI for its own jobs."""
CLUSTER_DIRECTORY = _key("headrace.cluster.dir").string_type().no_default_value()
CLUSTER_WORKERS = _key("headrace.cluster.workers").int_type().default_value(2)
CLUSTER_WORKER_CORES = _key("headrace.cluster.worker-cores").int_type().no_default_value()
CLUSTER_WORKER_MEMORY = _key("headrace.cluster.worker-memory").memory_type().default_value(2 << 30)
CLUSTER_MASTER_PORT = _key("headrace.cluster.master-port").int_type().default_value(7077)

REST_BIND_ADDRESS = _key("rest.bind-address").string_type().default_value("127.0.0.1")
REST_ADDRESS = _key("rest.address").string_type().no_default_value()
REST_PORT = _key("rest.port").int_type().default_value(8081)
REST_MAX_CONTENT_LENGTH = _key("rest.server.max-content-length").int_type().default_value(104_857_600)
WEB_REFRESH_INTERVAL = _key("web.refresh-interval").long_type().default_value(3000)
HA_TYPE = _key("high-availability.type", "high-availability").string_type().default_value("NONE")
HA_ZOOKEEPER_QUORUM = _key("high-availability.zookeeper.quorum").string_type().no_default_value()
HA_ZOOKEEPER_ROOT = _key("high-availability.zookeeper.path.root").string_type().default_value("/headrace")
HA_CLUSTER_ID = _key("high-availability.cluster-id").string_type().default_value("/default")
HA_OPTIONS = (HA_TYPE, HA_ZOOKEEPER_QUORUM, HA_ZOOKEEPER_ROOT, HA_CLUSTER_ID)


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
