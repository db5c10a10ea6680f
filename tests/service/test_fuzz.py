"""The short version of `scripts/fuzz-rest`: hostile requests to every route, with another seed each time."""

from __future__ import annotations

import random

from fuzz_kit.run import fuzz, routes_of_the_app


def test_hostile_requests_make_no_error_of_the_server(start_service, tmp_path):
    (tmp_path / "canary.txt").write_text("canary")
    service = start_service().leading()
    report = fuzz(service, tmp_path, 400, random.randrange(2**32))
    assert report.problems == [] and report.requests == 400, "\n".join(report.lines())


def test_the_routes_are_those_of_the_app():
    routes = routes_of_the_app()
    assert (
        ("POST", "/sign-in") in routes
        and ("GET", "/jobs/{jobid}/events") in routes
        and ("GET", "/openapi.json") in routes
    )
    assert len(routes) > 100
