"""Options that several commands share, and how results are shown.

With `--json`, standard output is exactly one JSON document, and an error is a JSON document on standard error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from headrace.config.known_keys import check_options

F = TypeVar("F", bound=Callable[..., Any])


def _want_json(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.find_root().ensure_object(dict)["json"] = True


def _settings(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not key or not equals:
            raise click.BadParameter(f"expected key=value, got {entry!r}")
        settings[key] = value
    check_options(settings, "-D")
    return settings


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option(
        "--json",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_want_json,
        help="Show the result as one JSON document.",
    )(function)


def settings_option(function: F) -> F:
    """Add `-D`; the command gets a dict `settings`."""
    return click.option(
        "-D",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_settings,
        help="Set an option; overrides the configuration file. Can be repeated.",
    )(function)


def address_option(function: F) -> F:
    """Add `-m`; the command gets `address`."""
    return click.option(
        "-m",
        "--jobmanager",
        "address",
        metavar="HOST:PORT",
        help="The job service. Default: rest.address of the configuration, else the one on this machine.",
    )(function)


def wants_json() -> bool:
    """Return whether the running command has `--json`."""
    given = click.get_current_context().find_root().obj
    return isinstance(given, dict) and bool(given.get("json"))


def show(value: Any, lines: Iterable[str]) -> None:
    """Show a result: `value` as JSON with `--json`, otherwise `lines`."""
    if wants_json():
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
    else:
        for line in lines:
            click.echo(line)
