"""Serve the files of the web UI, which are part of the package. They may not load anything from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from headrace.service.web.bodies import error_answer

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _root() -> Path:
    return Path(str(files("headrace.service"))) / "ui"


def _files() -> dict[str, Path]:
    """Return all files of the UI by path. Nothing else can be requested."""
    root = _root()
    return {f"/{path.relative_to(root).as_posix()}": path for path in root.rglob("*") if path.is_file()}


_KNOWN = _files()


def is_page(method: str, path: str) -> bool:
    """Return whether this is a file of the UI, which contains no secrets."""
    return method in ("GET", "HEAD") and (path == "/" or path in _KNOWN)


async def _page(request: Request) -> Response:
    path = _KNOWN.get("/index.html" if request.url.path == "/" else request.url.path)
    if path is None:
        return error_answer(404, f"Unable to load requested file {request.url.path[:200]}.")
    return FileResponse(path, headers=_HEADERS)


ROUTES = [Route("/", _page), *(Route(path, _page) for path in _KNOWN)]
