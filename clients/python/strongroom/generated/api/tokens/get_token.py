from typing import Any

import httpx

from ....arguments import path_segment
from ...models.token import Token
from ...types import UNSET, Unset


def request(
    id: str,
    *,
    if_none_match: str | Unset = UNSET,
    service_trace_id: str | Unset = UNSET,
    service_person: str | Unset = UNSET,
    service_reason: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    if not isinstance(service_person, Unset):
        headers["SERVICE-PERSON"] = service_person

    if not isinstance(service_reason, Unset):
        headers["SERVICE-REASON"] = service_reason

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/tokens/{id}".format(
            id=path_segment("id", id),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> Token:
    response_200 = Token.from_dict(response.json())

    return response_200
