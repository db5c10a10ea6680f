"""Generate the OpenAPI document from the same list of routes as the app."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace import __version__
from headrace.service.rest.endpoint import Endpoint, Field

_ERROR = {
    "description": "Rejected",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"errors": {"type": "array", "items": {"type": "string"}}}}
        }
    },
}


def openapi_document(endpoints: Iterable[Endpoint[Any]]) -> dict[str, Any]:
    """Return the document, with the paths without /v1.

    >>> openapi_document([])["openapi"]
    '3.1.0'
    """
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "headrace",
            "version": __version__,
            "description": "Jobs of headrace, with the paths and fields of Apache Flink's REST API v1.",
        },
        "servers": [{"url": "/"}, {"url": "/v1"}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
        "paths": paths,
    }


def _operation(endpoint: Endpoint[Any]) -> dict[str, Any]:
    names = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    operation: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{endpoint.path.strip('/').translate(_PLAIN)}",
        "summary": endpoint.summary,
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names),
            *(_parameter(entry) for entry in endpoint.query),
        ],
        "responses": {str(endpoint.status): {"description": endpoint.summary}, "4XX": _ERROR},
    }
    if endpoint.upload:
        form = {"type": "object", "properties": {"jarfile": {"type": "string", "format": "binary"}}}
        operation["requestBody"] = {"content": {"multipart/form-data": {"schema": form}}}
    elif endpoint.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": _schema(endpoint)}}}
    return operation


_PLAIN = str.maketrans({"/": "_", "{": "", "}": "", "-": "_"})


def _parameter(entry: Field) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": entry.name, "in": "query", "schema": {"type": entry.type_name}}
    return {**shown, "required": entry.required, "description": entry.summary}


def _schema(endpoint: Endpoint[Any]) -> dict[str, Any]:
    fields = endpoint.body or ()
    return {
        "type": "object",
        "properties": {e.name: {"type": e.type_name, "description": e.summary} for e in fields},
        "required": [entry.name for entry in fields if entry.required],
        "additionalProperties": endpoint.free_body,
    }
