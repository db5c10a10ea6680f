"""`headrace ui`: the link that opens the web UI in a browser and signs it in."""

from __future__ import annotations

import click

from headrace.cli.options import address_option, json_option, settings_option, show
from headrace.cli.service_client import find_service
from headrace.config.config_file import load_configuration

__all__ = ["ui"]


@click.command()
@address_option
@settings_option
@json_option
def ui(address: str | None, settings: dict[str, str]) -> None:
    """Print a link to the web UI. It signs one browser in, once, within ten minutes.

    Works for the job service, and with -m for a program that serves its own jobs (headrace.ui).

    \b
    headrace ui
    headrace ui -m 127.0.0.1:8082
    """
    link = find_service(address, load_configuration(overrides=settings)).browser_link()
    show({"link": link}, [link])
