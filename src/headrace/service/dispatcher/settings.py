"""What the service reads of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.common.config_options import ConfigOptions
from headrace.common.configuration import Configuration
from headrace.common.errors import ConfigurationError
from headrace.common.headrace_options import (
    SERVICE_DIRECTORY,
    SERVICE_KEPT_JOBS,
    SERVICE_RESTART_ATTEMPTS,
    SERVICE_TOKEN_FILE,
)

__all__ = ["ServiceSettings", "read_settings"]

_BIND = ConfigOptions.key("rest.bind-address").string_type().default_value("127.0.0.1")
_ADDRESS = ConfigOptions.key("rest.address").string_type().no_default_value()
_PORT = ConfigOptions.key("rest.port").int_type().default_value(8081)
_LONGEST_UPLOAD = ConfigOptions.key("rest.server.max-content-length").int_type().default_value(104_857_600)
_REFRESH = ConfigOptions.key("web.refresh-interval").long_type().default_value(3000)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OWN = ("rest.", "headrace.service.dir", "headrace.service.token-file", "headrace.cluster.", "headrace.ui", "web.")
"""Settings of the service itself: jobs that it starts do not get them."""


@dataclass(frozen=True)
class ServiceSettings:
    """Where the service listens, where it keeps its jobs, and how it starts them."""

    bind_address: str
    address: str
    """How clients call it, if that is known."""
    port: int
    directory: Path
    token_file: Path | None
    longest_upload: int
    refresh_interval: int
    restart_attempts: int
    kept_jobs: int
    configuration: dict[str, str]

    @property
    def is_local(self) -> bool:
        """Whether only this machine can call it."""
        return self.bind_address in _LOOPBACK

    def job_configuration(self, own: Mapping[str, str], job_id: str) -> dict[str, str]:
        """The settings of a job: those of the service, then its own; it is found again by its id."""
        inherited = {k: v for k, v in self.configuration.items() if not k.startswith(_OWN)}
        settings = {"execution.checkpointing.dir": f"file://{self.directory / 'checkpoints'}", **inherited, **own}
        return {**settings, "headrace.job.id": job_id}


def read_settings(configuration: Mapping[str, str]) -> ServiceSettings:
    """Reads and checks the keys.

    >>> read_settings({}).bind_address
    '127.0.0.1'
    >>> read_settings({"rest.bind-address": "0.0.0.0"})
    Traceback (most recent call last):
    ...
    headrace.common.errors.ConfigurationError: A service that others can reach needs a token [CONFIGURATION]
      seen:     rest.bind-address: 0.0.0.0
      remedy:   make one with `python -m headrace.service --new-token` and set headrace.service.token-file
    """
    values = Configuration.from_dict(configuration)
    bind, directory, token = values.get(_BIND), values.get(SERVICE_DIRECTORY), values.get(SERVICE_TOKEN_FILE)
    settings = ServiceSettings(
        bind_address=str(bind),
        address=values.get(_ADDRESS) or str(bind),
        port=_number(values.get(_PORT)),
        directory=Path(directory).resolve() if directory else Path.home() / ".headrace" / "service",
        token_file=None if token is None else Path(token),
        longest_upload=_number(values.get(_LONGEST_UPLOAD)),
        refresh_interval=_number(values.get(_REFRESH)),
        restart_attempts=_number(values.get(SERVICE_RESTART_ATTEMPTS)),
        kept_jobs=_number(values.get(SERVICE_KEPT_JOBS)),
        configuration=dict(configuration),
    )
    if not settings.is_local and (settings.token_file is None or not settings.token_file.is_file()):
        raise ConfigurationError(
            "A service that others can reach needs a token",
            seen=f"rest.bind-address: {bind}",
            remedy=f"make one with `python -m headrace.service --new-token` and set {SERVICE_TOKEN_FILE.key}",
        )
    return settings


def _number(value: int | None) -> int:
    assert value is not None  # the options have defaults
    return value
