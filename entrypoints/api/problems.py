"""Errors as RFC 9457 problems, each with a stable code."""

import logging
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec
from attrs import frozen
from starlette.responses import Response

from ...application.operating import EffectKeyNotChosen
from ...domain import errors as e
from ...domain.values import cleaned

MEDIA_TYPE = "application/problem+json"
LONGEST = 400
"""Characters of one text in a problem: what callers sent is quoted, but not at any length."""

logger = logging.getLogger("fencepost.api")


class Code(StrEnum):
    """What clients switch on."""

    INVALID_REQUEST = "invalid_request"
    INVALID_JSON = "invalid_json"
    INVALID_CURSOR = "invalid_cursor"
    CROSS_SITE = "cross_site"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TIMEOUT = "request_timeout"
    WRONG_STATE = "wrong_state"
    BUSY = "busy"
    KEY_IN_PROGRESS = "key_in_progress"
    SCHEDULE_EXISTS = "schedule_exists"
    SCHEDULE_UNREADABLE = "schedule_unreadable"
    VERSION_CONFLICT = "version_conflict"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    MISDIRECTED_REQUEST = "misdirected_request"
    INVALID_INPUT = "invalid_input"
    KEY_CONFLICT = "key_conflict"
    INTERNAL_ERROR = "internal_error"
    UNSUPPORTED_HEADER = "unsupported_header"
    DATABASE_UNAVAILABLE = "database_unavailable"
    OVERLOADED = "overloaded"
    SCHEMA_PENDING = "schema_pending"
    OUTCOME_UNKNOWN = "outcome_unknown"


KINDS: Mapping[Code, tuple[int, str]] = {
    Code.INVALID_REQUEST: (400, "The request is not proper HTTP"),
    Code.INVALID_JSON: (400, "The body is not JSON that can be kept unchanged"),
    Code.INVALID_CURSOR: (400, "The cursor does not belong to this list"),
    Code.CROSS_SITE: (403, "Pages of other sites may not call this API"),
    Code.NOT_FOUND: (404, "There is nothing here"),
    Code.METHOD_NOT_ALLOWED: (405, "This resource does not know the method"),
    Code.REQUEST_TIMEOUT: (408, "The body did not arrive in time"),
    Code.WRONG_STATE: (409, "The job's state does not allow this"),
    Code.BUSY: (409, "Somebody else holds the job; nothing was changed"),
    Code.KEY_IN_PROGRESS: (409, "The first request with this submit key has not finished"),
    Code.SCHEDULE_EXISTS: (409, "A schedule of this name is there, and is defined otherwise"),
    Code.SCHEDULE_UNREADABLE: (409, "The schedule's stored definition can't be read"),
    Code.VERSION_CONFLICT: (412, "It has another version than If-Match asks for; nothing was changed"),
    Code.PAYLOAD_TOO_LARGE: (413, "The body is too large"),
    Code.UNSUPPORTED_MEDIA_TYPE: (415, "The body must be plain application/json in UTF-8"),
    Code.MISDIRECTED_REQUEST: (421, "The Host header does not name this machine's loopback"),
    Code.INVALID_INPUT: (422, "A value breaks a rule"),
    Code.KEY_CONFLICT: (422, "The key was used for another request"),
    Code.INTERNAL_ERROR: (500, "A fault of the server"),
    Code.UNSUPPORTED_HEADER: (501, "The header cannot be honoured here"),
    Code.DATABASE_UNAVAILABLE: (503, "The database is away or refuses to write; nothing was changed"),
    Code.OVERLOADED: (503, "More waits for the database than is taken on; nothing was changed"),
    Code.SCHEMA_PENDING: (503, "The database's schema is not the one this version needs"),
    Code.OUTCOME_UNKNOWN: (504, "The change may or may not have been made"),
}
RETRY_AFTER = {
    Code.BUSY: "1",
    Code.KEY_IN_PROGRESS: "1",
    Code.DATABASE_UNAVAILABLE: "2",
    Code.OVERLOADED: "1",
    Code.SCHEMA_PENDING: "10",
}
REPEAT = "Repeat the request, with the same Idempotency-Key if it had one: the answer tells what became of the first."
SAID: Mapping[type[e.FencepostError], Code] = {
    e.JobNotFound: Code.NOT_FOUND,
    e.ScheduleNotFound: Code.NOT_FOUND,
    e.BackfillNotFound: Code.NOT_FOUND,
    e.WrongState: Code.WRONG_STATE,
    e.JobBusy: Code.BUSY,
    e.ScheduleUnreadable: Code.SCHEDULE_UNREADABLE,
    e.VersionConflict: Code.VERSION_CONFLICT,
    e.KeyConflict: Code.KEY_CONFLICT,
}
"""Errors whose own words are the detail."""
BY_STATUS = {400: Code.INVALID_REQUEST, 404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED}

Step = str | int


@frozen
class Fault:
    """Where a request breaks a rule: in the body (a JSON pointer), in a parameter or in a header."""

    place: str
    name: str
    rule: str

    def describe(self) -> dict[str, str]:
        """Return it as an entry of ``errors``."""
        return {self.place: shortened(self.name), "rule": shortened(self.rule)}


class Problem(Exception):
    """An answer that is not a success."""

    def __init__(
        self,
        code: Code,
        detail: str | None = None,
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Keep what the answer will say beside the code's status and title."""
        super().__init__(code.value, detail)
        self.code = code
        self.detail = detail
        self.faults = faults
        self.headers = headers or {}

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.code][0]

    def response(self, request_id: str | None = None) -> Response:
        """Return the answer."""
        retry = {"Retry-After": RETRY_AFTER[self.code]} if self.code in RETRY_AFTER else {}
        content = msgspec.json.encode(self.describe(request_id))
        return Response(content, self.status, {**self.headers, **retry}, MEDIA_TYPE)

    def describe(self, request_id: str | None = None) -> dict[str, object]:
        """Return the problem's members; those without a value are left out."""
        status, title = KINDS[self.code]
        members = {
            "type": f"urn:fencepost:problem:{self.code}",
            "title": title,
            "status": status,
            "code": self.code.value,
            "detail": None if self.detail is None else shortened(self.detail),
            "request_id": request_id,
            "errors": [fault.describe() for fault in self.faults] or None,
        }
        return {name: value for name, value in members.items() if value is not None}


def invalid_header(name: str, rule: str) -> Problem:
    """Return the problem of a header that breaks a rule."""
    return Problem(Code.INVALID_INPUT, faults=[Fault("header", name, rule)])


def invalid_parameter(name: str, rule: str) -> Problem:
    """Return the problem of a parameter of the path or the query that breaks a rule."""
    return Problem(Code.INVALID_INPUT, faults=[Fault("parameter", name, rule)])


def invalid_body(error: e.InvalidInput, code: Code = Code.INVALID_INPUT) -> Problem:
    """Return the problem of a value in the body; an item of a batch lies in ``/jobs``."""
    path = ("jobs", *error.path) if isinstance(error, e.InvalidItem) else error.path
    return Problem(code, faults=[body_fault(path, error.rule)])


def body_fault(path: Sequence[Step], rule: str) -> Fault:
    """Name a place in the body; a pointer that would be too long ends where it still says something true."""
    pointer = ""
    for step in path:
        longer = f"{pointer}/{_escaped(step)}"
        if len(longer) > LONGEST:
            break
        pointer = longer
    return Fault("pointer", pointer, rule)


def problem_of(error: e.FencepostError) -> Problem:
    """Translate what the application raises on purpose; what the driver said stays in our log."""
    match error:
        case e.InvalidInput():
            return invalid_body(error)
        case EffectKeyNotChosen():
            return Problem(Code.WRONG_STATE, str(error), [body_fault(("fresh_effect_key",), error.rule)])
        case e.ScheduleExists():
            return Problem(Code.SCHEDULE_EXISTS, f"{error}: PUT replaces its definition")
        case e.KeyInProgress():
            return Problem(Code.KEY_IN_PROGRESS)
        case e.Unavailable():
            return _unavailable(error)
        case e.UnknownOutcome():
            logger.warning("an outcome is unknown: %s", error)
            return Problem(Code.OUTCOME_UNKNOWN, REPEAT)
        case _:
            return _said(error)


def _said(error: e.FencepostError) -> Problem:
    for kind, code in SAID.items():
        if isinstance(error, kind):
            return Problem(code, str(error))
    raise error


def _unavailable(error: e.Unavailable) -> Problem:
    if isinstance(error, e.Overloaded):
        return Problem(Code.OVERLOADED)  # without a line in the log: there would be thousands a second
    logger.warning("the database is unavailable: %s", error)
    return Problem(Code.DATABASE_UNAVAILABLE)


def shortened(text: str) -> str:
    """Return text that any JSON encoder takes, cut where it gets long."""
    kept = cleaned(text, 4 * LONGEST)
    return kept if len(kept) <= LONGEST else kept[:LONGEST] + " …"


def _escaped(step: Step) -> str:
    return str(step)[: LONGEST + 1].replace("~", "~0").replace("/", "~1")
