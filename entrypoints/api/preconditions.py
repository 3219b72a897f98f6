"""If-Match: a change of what has a version, made only if nobody else changed it since it was read."""

import re

from starlette.requests import Request

from ...domain.errors import VersionConflict
from .problems import invalid_header

IF_MATCH = "If-Match"
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"')
_VERSION = re.compile(r'"([1-9][0-9]{0,8})"')


def expected_version(request: Request) -> int | None:
    """Return the version that If-Match asks for: None for any, which ``*`` means, too.

    Raises Problem for what is not one entity tag, VersionConflict for a tag that no version ever has: a weak one, or
    one that was not made here.
    """
    given = request.headers.getlist(IF_MATCH)
    if not given:
        return None
    tag = given[0].strip()
    if len(given) > 1 or not (tag == "*" or _ENTITY_TAG.fullmatch(tag)):
        raise invalid_header(IF_MATCH, 'must be one ETag as it was given, such as "3", or *')
    if tag == "*":
        return None
    found = _VERSION.fullmatch(tag)
    if found is None:
        raise VersionConflict("no version has this ETag")
    return int(found[1])
