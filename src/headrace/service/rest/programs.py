"""The routes of uploaded programs. Flink's paths say "jars"; here programs are Python files and zip archives of them."""

from __future__ import annotations

import re
import shlex
from typing import Any

from headrace.service.errors import NotFoundError, RequestError
from headrace.service.rest.backend import Backend, Programs, RunRequest
from headrace.service.rest.endpoint import Call, Endpoint, Field

_JOB_ID = re.compile("[0-9a-f]{32}")
_CLAIM_MODES = ("CLAIM", "NO_CLAIM", "LEGACY")


def _programs(backend: Backend) -> Programs:
    if backend.programs is None:
        raise NotFoundError("This is the service of one job: submit programs to a dispatcher.")
    return backend.programs


def _upload(backend: Backend, call: Call) -> dict[str, Any]:
    if call.upload is None:
        raise RequestError("Exactly 1 file must be sent, received 0.")
    return {"filename": str(_programs(backend).upload(*call.upload)), "status": "success"}


def _listed(backend: Backend, call: Call) -> dict[str, Any]:
    return {"address": backend.address, "files": _programs(backend).listed()}


def _delete(backend: Backend, call: Call) -> dict[str, Any]:
    _programs(backend).delete(call.path["jarid"])
    return {}


def _run(backend: Backend, call: Call) -> dict[str, Any]:
    return {"jobid": _programs(backend).run(call.path["jarid"], _request(call))}


def _plan(backend: Backend, call: Call) -> dict[str, Any]:
    return {"plan": _programs(backend).plan(call.path["jarid"], _request(call))}


def _request(call: Call) -> RunRequest:
    """Return the request. As in Flink, fields of the body override query parameters."""
    body, query = call.body, call.query
    configuration = {str(key): _setting(key, value) for key, value in body.get("flinkConfiguration", {}).items()}
    parallelism = body["parallelism"] if "parallelism" in body else call.number("parallelism", 0)
    if "parallelism" in body or "parallelism" in query:
        if not 1 <= parallelism <= 32768:
            raise RequestError("Bad request received: 'parallelism' must be a number from 1 to 32768.")
        configuration["parallelism.default"] = str(parallelism)
    savepoint = body.get("savepointPath") or query.get("savepointPath")
    if savepoint:
        configuration["execution.state-recovery.path"] = savepoint
        relaxed = body.get("allowNonRestoredState", query.get("allowNonRestoredState", "").lower() == "true")
        configuration["execution.state-recovery.ignore-unclaimed-state"] = "true" if relaxed else "false"
    claim = body.get("claimMode") or body.get("restoreMode")
    if claim is not None:
        if claim not in _CLAIM_MODES:
            raise RequestError(f"Bad request received: 'claimMode' must be one of {', '.join(_CLAIM_MODES)}.")
        configuration["execution.state-recovery.claim-mode"] = claim
    job_id = body.get("jobId")
    if job_id is not None and not _JOB_ID.fullmatch(job_id):
        raise RequestError("Bad request received: 'jobId' must consist of 32 hexadecimal digits.")
    return RunRequest(_arguments(call), body.get("entryClass") or query.get("entry-class"), job_id, configuration)


def _setting(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RequestError(f"Bad request received: {key[:100]!r} in 'flinkConfiguration' must be a string.")
    return value


def _arguments(call: Call) -> tuple[str, ...]:
    given = call.body.get("programArgsList")
    if given is None and "programArg" in call.query:
        given = call.names("programArg")
    if given is None:
        text = call.body.get("programArgs", call.query.get("program-args", ""))
        try:
            given = shlex.split(text)
        except ValueError as error:
            raise RequestError(f"Bad request received: the arguments cannot be parsed: {error}.") from None
    if any(not isinstance(part, str) or "\0" in part for part in given):
        raise RequestError("Bad request received: 'programArgsList' must contain strings.")
    return tuple(given)


_QUERY = (
    *(Field("entry-class"), Field("program-args"), Field("programArg"), Field("parallelism", int)),
    *(Field("savepointPath"), Field("allowNonRestoredState", bool)),
)
_BODY = (
    Field("entryClass", summary="the module to run, if it is not the file itself"),
    Field("programArgs"),
    Field("programArgsList", list),
    Field("parallelism", int),
    Field("jobId"),
    Field("savepointPath"),
    Field("allowNonRestoredState", bool),
    Field("claimMode"),
    Field("restoreMode"),
    Field("flinkConfiguration", dict, "settings of the job"),
)
ENDPOINTS: tuple[Endpoint[Backend], ...] = (
    Endpoint("GET", "/jars", _listed, "Uploaded programs"),
    Endpoint("POST", "/jars/upload", _upload, "Upload a .py file, or a .zip of modules", upload=True),
    Endpoint("DELETE", "/jars/{jarid}", _delete, "Delete an uploaded program"),
    Endpoint("GET", "/jars/{jarid}/plan", _plan, "The plan of a program", query=_QUERY),
    Endpoint("POST", "/jars/{jarid}/plan", _plan, "The plan of a program", query=_QUERY, body=_BODY),
    Endpoint("POST", "/jars/{jarid}/run", _run, "Start a job", query=_QUERY, body=_BODY),
)
