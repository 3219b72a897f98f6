"""Request bodies: read within bounds, decoded strictly."""

import asyncio
import re
from typing import Any

from starlette.requests import ClientDisconnect, Request

from ...domain.errors import InvalidInput
from ...domain.values import decode
from .problems import Code, Problem, invalid_body
from .query import no_query

SINGLE_BYTES = 1024 * 1024
BATCH_BYTES = 16 * 1024 * 1024
DISCARDED_BYTES = 32 * 1024 * 1024
"""Of a body that is too large, so much is taken in and thrown away: most clients hear the answer only after sending."""
BODY_SECONDS = 30.0
ASIDE_BYTES = 256 * 1024
"""A body larger than this, which takes some milliseconds to decode, is decoded in a thread."""
_JSON = re.compile(r'application/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)


async def json_object(
    request: Request, *, most: int = SINGLE_BYTES, depth: int = 0, optional: bool = False
) -> dict[str, Any]:
    """Return the body, a JSON object; an empty one where ``optional`` and no body was sent.

    ``depth`` is the nesting depth of the object when a payload inside has depth 1. Raises Problem.
    """
    no_query(request)
    _check_media(request, optional=optional)
    content = await _content(request, most)
    if optional and not content:
        return {}
    try:
        if len(content) > ASIDE_BYTES:  # other requests go on meanwhile
            value = await asyncio.to_thread(_decoded, content, depth)
        else:
            value = _decoded(content, depth)
    except UnicodeDecodeError as error:
        raise Problem(Code.INVALID_JSON, "The body is not UTF-8.") from error
    except InvalidInput as error:
        raise invalid_body(error, Code.INVALID_JSON) from error
    if not isinstance(value, dict):
        raise invalid_body(InvalidInput("", "must be a JSON object"))
    return value


def _decoded(content: bytes, depth: int) -> Any:
    return decode("", content.decode(), depth)


def _check_media(request: Request, *, optional: bool) -> None:
    types = request.headers.getlist("content-type")
    if not (optional and not types) and not (len(types) == 1 and _JSON.fullmatch(types[0].strip())):
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send the body without a Content-Encoding.")


async def _content(request: Request, most: int) -> bytes:
    announced = request.headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdecimal()):
        raise Problem(Code.INVALID_REQUEST, "Content-Length must be a number.")
    too_large = int(announced[:20]) > most
    if too_large and "expect" in request.headers:
        raise _too_large(most)  # the client waits for a word before it sends anything
    try:
        async with asyncio.timeout(BODY_SECONDS):
            content, arrived = await _received(request, 0 if too_large else most)
    except TimeoutError as error:
        raise Problem(Code.REQUEST_TIMEOUT, headers={"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise Problem(Code.INVALID_REQUEST, "The body ended early.") from error
    if too_large or arrived > most:
        raise _too_large(most)
    return content


async def _received(request: Request, most: int) -> tuple[bytes, int]:
    kept, arrived = bytearray(), 0
    async for chunk in request.stream():
        arrived += len(chunk)
        if arrived <= most:
            kept += chunk
        else:
            kept.clear()
        if arrived > most + DISCARDED_BYTES:
            break
    return bytes(kept), arrived


def _too_large(most: int) -> Problem:
    return Problem(
        Code.PAYLOAD_TOO_LARGE, f"At most {most} bytes are taken.", headers={"Connection": "close"}
    )
