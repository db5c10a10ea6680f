"""Decide how the command line verifies an HTTPS service, and which certificate it presents."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from headrace.config.headrace_keys import CLIENT_CA, CLIENT_CERTIFICATE, CLIENT_KEY, SERVICE_CERTIFICATE
from headrace.errors import ConfigurationError


def speaks_https(settings: Mapping[str, str]) -> bool:
    """Return whether an address without a scheme means HTTPS: if any setting is set that only HTTPS needs.

    >>> speaks_https({"headrace.client.tls.ca": "ca.pem"}), speaks_https({})
    (True, False)
    """
    keys = (CLIENT_CERTIFICATE.key, CLIENT_KEY.key, CLIENT_CA.key, SERVICE_CERTIFICATE.key)
    return any(settings.get(key) for key in keys)


def tls_context(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """Return the context for `headrace.client.tls.*`; None if nothing is set, which means the system's authorities.

    >>> tls_context({}) is None
    True
    >>> tls_context({"headrace.client.tls.certificate": "me.pem"})
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: headrace.client.tls.certificate and headrace.client.tls.key ... [CONFIGURATION]
      remedy:   set both; they may name the same PEM file
    """
    certificate, key, authority = (settings.get(option.key) for option in (CLIENT_CERTIFICATE, CLIENT_KEY, CLIENT_CA))
    if not (certificate or key or authority):
        return None
    if bool(certificate) != bool(key):
        raise ConfigurationError(
            f"{CLIENT_CERTIFICATE.key} and {CLIENT_KEY.key} must be set together",
            remedy="set both; they may name the same PEM file",
        )
    context = _context(authority)
    if certificate:
        try:
            context.load_cert_chain(certificate, key, password=lambda: b"")
        except OSError as error:
            raise _unusable(f"{CLIENT_CERTIFICATE.key}, {CLIENT_KEY.key}", f"{certificate}, {key}", error) from None
    return context


def _context(authority: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authority or None)
    except OSError as error:
        raise _unusable(CLIENT_CA.key, str(authority), error) from None


def _unusable(keys: str, files: str, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"The files of {keys} cannot be used",
        seen=f"{files}: {error}",
        expected="PEM files that this user can read, the key without a passphrase",
    )
