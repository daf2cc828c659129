"""Checks the arguments of the generated operations before they become a URL."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from .errors import StrongroomError


def path_segment(name: str, value: object) -> str:
    """Returns an id as a segment of a path.

    Threat: with an empty id, "." or "..", or with ``None``, the path would name another operation or another object.
    """
    if not isinstance(value, str) or not _is_text(value):
        raise StrongroomError("invalid_argument", f"{name} is not valid text. Nothing was sent.")
    if value in ("", ".", ".."):
        raise StrongroomError("invalid_argument", f'{name} cannot be empty, "." or "..". Nothing was sent.')
    return quote(value, safe="")


def check_list(name: str, value: object) -> None:
    """Raises StrongroomError for a string. Its characters would become the items of the list."""
    if isinstance(value, str):
        raise StrongroomError("invalid_argument", f"{name} is a string, and must be a list. Nothing was sent.")


def check_members(name: str, members: Mapping[str, object], prefix: str) -> None:
    """Raises StrongroomError if the service would not use each member of an object in the query as a filter.

    Threat: the service ignores unknown parameters, so a list would contain every token, and the caller might delete
    them.
    """
    for member, value in members.items():
        if not member.startswith(prefix) or member == prefix:
            raise StrongroomError(
                "invalid_argument",
                f'Each name in {name} must be "{prefix}" and a key, such as "{prefix}customer". Nothing was sent.',
            )
        if not isinstance(value, str):
            raise StrongroomError("invalid_argument", f"A value in {name} is not a string. Nothing was sent.")


def _is_text(value: str) -> bool:
    """Returns False if the text contains half of a surrogate pair, which UTF-8 cannot represent."""
    return re.search("[\ud800-\udfff]", value) is None
