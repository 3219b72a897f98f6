"""The parts of which the OpenAPI document's routes are made."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from . import schemas
from .problems import MEDIA_TYPE

PROBLEM = {
    "description": "A problem (RFC 9457); its `code` says which.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": schemas.REF + "Problem"}}},
}
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": PROBLEM, "5XX": PROBLEM}

Parameter = dict[str, Any]


def parameter(name: str, place: str, schema: Mapping[str, Any], text: str = "") -> Parameter:
    """Return a parameter in the path, the query or a header."""
    described = {"description": text} if text else {}
    return {"name": name, "in": place, "required": place == "path", "schema": dict(schema), **described}


def query(name: str, schema: Mapping[str, Any], text: str = "") -> Parameter:
    """Return a parameter in the query."""
    return parameter(name, "query", schema, text)


TEXT = {"type": "string"}
NUMBER = {"type": "integer", "minimum": 0}
LIMIT = {"type": "integer", "minimum": 1, "maximum": 500, "default": 100}
MOMENT = {"type": "string", "format": "date-time"}
MANY_TEXTS = {"type": "array", "items": TEXT}
REQUEST_ID = parameter(
    "X-Request-Id",
    "header",
    {"type": "string", "pattern": r"^[A-Za-z0-9._:/+=@-]{1,128}$"},
    "Kept in the events; made when left out.",
)
PAGED = (query("limit", LIMIT), query("cursor", TEXT, "`next` of the page before, with the same filter."))


def answer(text: str, model: type, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a success with a body."""
    described = {name: {"description": says, "schema": TEXT} for name, says in (headers or {}).items()}
    schema = {"$ref": schemas.REF + model.__name__}
    whole = {"description": text, "content": {"application/json": {"schema": schema}}}
    return {**whole, "headers": described} if described else whole


def route(
    summary: str,
    answers: Mapping[int, dict[str, Any]],
    *parameters: Parameter,
    body: type | None = None,
    body_required: bool = True,
) -> dict[str, Any]:
    """Return what a route's decorator takes; the first answer's status is the usual one."""
    extra: dict[str, Any] = {"parameters": [*parameters, REQUEST_ID]}
    if body is not None:
        content = {"application/json": {"schema": {"$ref": schemas.REF + body.__name__}}}
        extra["requestBody"] = {"required": body_required, "content": content}
    return {
        "summary": summary,
        "status_code": next(iter(answers)),
        "responses": {**answers, **PROBLEMS},
        "response_class": JSONResponse,
        "openapi_extra": extra,
    }
