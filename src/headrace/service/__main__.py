"""Run a dispatcher: `python -m headrace.service [-D key=value ...]`. With `--new-token`, create a token instead.

The dispatcher exits on SIGTERM and SIGINT. Its jobs keep running, and the next dispatcher finds them. `DELETE /cluster`
cancels the jobs as well.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from pathlib import Path

from headrace.config.config_file import load_configuration
from headrace.errors import HeadraceError
from headrace.foundation.extras import need
from headrace.service.dispatcher.node import Election, FileElection, Node
from headrace.service.settings import ServiceSettings, read_settings
from headrace.service.tokens import TokenFile
from headrace.service.web.access import guard_for
from headrace.service.web.app import make_app
from headrace.service.web.server import Server, listening_socket

_LINE = "%(asctime)s %(levelname)s %(message)s"


def main() -> None:
    """Run a dispatcher, or create a token."""
    parser = argparse.ArgumentParser(prog="python -m headrace.service", description="Run the job service of headrace.")
    parser.add_argument("-D", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument("--new-token", action="store_true", help="create a token, print it once, and store its hash")
    given = parser.parse_args()
    try:
        configuration = load_configuration(None, dict(_pair(parser, text) for text in given.settings))
        if given.new_token:
            _new_token(configuration)
        else:
            _serve(read_settings(configuration))
    except HeadraceError as error:
        sys.exit(f"headrace: {error}")


def _pair(parser: argparse.ArgumentParser, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        parser.error(f"-D expects key=value, got {text!r}")
    return key, value


def _new_token(configuration: dict[str, str]) -> None:
    path = configuration.get("headrace.service.token-file")
    if path is None:
        sys.exit("headrace: set headrace.service.token-file to the file that stores the hash of the token")
    sys.stdout.write(TokenFile(Path(path)).renew() + "\n")


def _serve(settings: ServiceSettings) -> None:
    settings.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    logging.basicConfig(filename=settings.directory / "service.log", level=logging.INFO, format=_LINE)
    for key in settings.without_effect:
        logging.warning("%s has no effect: jobs are stored in headrace.service.dir, which all dispatchers share", key)
    listening = listening_socket(settings.bind_address, settings.port)
    address = settings.url(listening.getsockname()[1])
    guard = guard_for(settings, listening)
    logging.log(logging.WARNING if guard.is_open else logging.INFO, "%s", guard.said)
    sys.stdout.write(f"{guard.said}\n")
    if sys.stdout.isatty():
        sys.stdout.write(f"Open it in a browser (the link works once, for ten minutes): {guard.link(address)}\n")
    sys.stdout.flush()
    node = Node(settings, _election(settings))
    server = Server(make_app(node, guard.rules, settings.longest_upload), listening, settings.tls)
    node.start(address, server.leave)
    for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn exits on these signals, then raises them again
        signal.signal(number, lambda *_: None)
    try:
        server.run()
    finally:
        node.stop()
        guard.end()


def _election(settings: ServiceSettings) -> Election:
    if settings.zookeeper is None:
        return FileElection(settings.directory)
    need("kazoo", "zookeeper", "Leader election with ZooKeeper")
    from headrace.service.dispatcher.zookeeper import ZooKeeperElection

    return ZooKeeperElection(*settings.zookeeper)


if __name__ == "__main__":
    main()
