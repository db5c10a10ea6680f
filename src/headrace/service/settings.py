"""Read and check the settings of the job service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.config import headrace_keys as keys
from headrace.config.checkpoint_keys import CHECKPOINT_DIRECTORY
from headrace.config.configuration import Configuration
from headrace.config.headrace_keys import service_directory
from headrace.errors import ConfigurationError

_CREATE_TOKEN = f"create one with `python -m headrace.service --new-token`, set {keys.SERVICE_TOKEN_FILE.key}"
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - to recognize them
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OWN = (
    *("rest.", "web.", "high-availability", "headrace.cluster.", "headrace.ui"),
    *("headrace.service.dir", "headrace.service.token-file", "headrace.service.tls.", "headrace.client."),
    "headrace.service.authentication",
)
"""Settings of the service itself, which its jobs do not get."""


@dataclass(frozen=True)
class Tls:
    """Files for HTTPS. With `client_ca`, clients need a certificate too."""

    certificate: str
    key: str
    client_ca: str | None = None


@dataclass(frozen=True)
class ServiceSettings:
    """Where the service listens, where it stores its jobs, and how it starts them."""

    bind_address: str
    address: str
    """The address that clients use."""
    port: int
    directory: Path
    work_directory: Path | None
    """Where workers of `headrace cluster start` store the output of executors; None without such a cluster."""
    token_file: Path | None
    authentication: str
    """`token` or, on loopback only, `none`."""
    tls: Tls | None
    zookeeper: tuple[str, str] | None
    """The ZooKeeper servers, and the path below which the dispatchers elect their leader."""
    longest_upload: int
    refresh_interval: int
    restart_attempts: int
    kept_jobs: int
    configuration: dict[str, str]

    @property
    def without_effect(self) -> list[str]:
        """Return the keys of Flink's high availability that have no effect: jobs are in the directory, not in ZooKeeper.

        >>> read_settings({"high-availability.storageDir": "/ha", "high-availability.type": "NONE"}).without_effect
        ['high-availability.storageDir']
        """
        known = {key for option in keys.HA_OPTIONS for key in (option.key, *option.fallback_keys)}
        return sorted(k for k in self.configuration if k.startswith("high-availability") and k not in known)

    def url(self, port: int) -> str:
        host = "127.0.0.1" if self.address in _EVERYWHERE else self.address
        return f"{'http' if self.tls is None else 'https'}://{f'[{host}]' if ':' in host else host}:{port}"

    @property
    def is_local(self) -> bool:
        return self.bind_address in _LOOPBACK

    def job_configuration(self, own: Mapping[str, str], job_id: str) -> dict[str, str]:
        """Return the settings of a job: those of the service, overridden by its own, and its id."""
        settings = {k: v for k, v in self.configuration.items() if not k.startswith(_OWN)} | dict(own)
        if Configuration.from_dict(settings).get(CHECKPOINT_DIRECTORY) is None:
            settings[CHECKPOINT_DIRECTORY.key] = f"file://{self.directory / 'checkpoints'}"
        return {**settings, keys.JOB_ID.key: job_id}


def read_settings(configuration: Mapping[str, str]) -> ServiceSettings:
    """Return the checked settings.

    >>> read_settings({}).bind_address
    '127.0.0.1'
    >>> read_settings({"rest.bind-address": "0.0.0.0"})
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: A service that other machines can reach needs a token or ... [CONFIGURATION]
      seen:     rest.bind-address: 0.0.0.0
      remedy:   create one with `python -m headrace.service --new-token`, set headrace.service.token-file (or set ...)
    """
    values = Configuration.from_dict(configuration)
    bind, token = values.get(keys.REST_BIND_ADDRESS), values.get(keys.SERVICE_TOKEN_FILE)
    cluster = values.get(keys.CLUSTER_DIRECTORY)
    settings = ServiceSettings(
        bind_address=str(bind),
        address=values.get(keys.REST_ADDRESS) or str(bind),
        port=_number(values.get(keys.REST_PORT)),
        directory=service_directory(configuration).resolve(),
        work_directory=None if cluster is None else Path(cluster).resolve() / "work",
        token_file=None if token is None else Path(token),
        authentication=str(values.get(keys.SERVICE_AUTHENTICATION)).lower(),
        tls=_tls(values),
        zookeeper=_zookeeper(values),
        longest_upload=_number(values.get(keys.REST_MAX_CONTENT_LENGTH)),
        refresh_interval=_number(values.get(keys.WEB_REFRESH_INTERVAL)),
        restart_attempts=_number(values.get(keys.SERVICE_RESTART_ATTEMPTS)),
        kept_jobs=_number(values.get(keys.SERVICE_KEPT_JOBS)),
        configuration=dict(configuration),
    )
    if settings.authentication not in ("token", "none"):
        raise ConfigurationError(
            f"{keys.SERVICE_AUTHENTICATION.key} has an unknown value",
            seen=settings.authentication,
            expected="token or none",
        )
    has_token = settings.token_file is not None and settings.token_file.is_file()
    knows_clients = settings.tls is not None and settings.tls.client_ca is not None
    if settings.token_file is not None and not has_token:
        raise ConfigurationError("The token file does not exist", seen=str(settings.token_file), remedy=_CREATE_TOKEN)
    if settings.authentication == "none" and (settings.token_file is not None or not settings.is_local):
        raise ConfigurationError(
            f"{keys.SERVICE_AUTHENTICATION.key}: none requires a loopback address and no token file",
            seen=f"rest.bind-address: {bind}, {keys.SERVICE_TOKEN_FILE.key}: {token}",
            remedy=f"remove one of the settings; Flink's own clients cannot send a token, so they need "
            f"{keys.REST_BIND_ADDRESS.key}: 127.0.0.1",
        )
    if not settings.is_local and not has_token and not knows_clients:
        raise ConfigurationError(
            "A service that other machines can reach needs a token or client certificates",
            seen=f"rest.bind-address: {bind}",
            remedy=f"{_CREATE_TOKEN} (or set {keys.SERVICE_CLIENT_CA.key})",
        )
    return settings


def _zookeeper(values: Configuration) -> tuple[str, str] | None:
    kind, quorum = (values.get(keys.HA_TYPE) or "NONE").upper(), values.get(keys.HA_ZOOKEEPER_QUORUM)
    if kind not in ("NONE", "ZOOKEEPER"):
        raise ConfigurationError(f"{keys.HA_TYPE.key} has an unknown value", seen=kind, expected="NONE or ZOOKEEPER")
    if kind == "NONE":
        return None
    if quorum is None:
        raise ConfigurationError(
            f"{keys.HA_TYPE.key} needs {keys.HA_ZOOKEEPER_QUORUM.key}", remedy="set it to host:port,host:port"
        )
    root, cluster = values.get(keys.HA_ZOOKEEPER_ROOT) or "", values.get(keys.HA_CLUSTER_ID) or ""
    return quorum, "/".join(["", *(part for part in f"{root}/{cluster}".split("/") if part)])


def _tls(values: Configuration) -> Tls | None:
    certificate, key = values.get(keys.SERVICE_CERTIFICATE), values.get(keys.SERVICE_KEY)
    client_ca = values.get(keys.SERVICE_CLIENT_CA)
    if certificate is None and key is None and client_ca is None:
        return None
    if certificate is None or key is None:
        raise ConfigurationError(
            f"{keys.SERVICE_CERTIFICATE.key} and {keys.SERVICE_KEY.key} must be set together",
            remedy="set both",
        )
    missing = [path for path in (certificate, key, client_ca) if path is not None and not Path(path).is_file()]
    if missing:
        raise ConfigurationError("A file for HTTPS does not exist", seen=missing[0])
    return Tls(certificate, key, client_ca)


def _number(value: int | None) -> int:
    assert value is not None  # the options have defaults
    return value
