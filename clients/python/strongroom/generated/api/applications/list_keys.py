from typing import Any

import httpx

from ....arguments import path_segment
from ...models.api_key import ApiKey
from ...types import UNSET, Unset


def request(
    id: str,
    *,
    service_trace_id: str | Unset = UNSET,
    service_person: str | Unset = UNSET,
    service_reason: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    if not isinstance(service_person, Unset):
        headers["SERVICE-PERSON"] = service_person

    if not isinstance(service_reason, Unset):
        headers["SERVICE-REASON"] = service_reason

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/applications/{id}/keys".format(
            id=path_segment("id", id),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> list[ApiKey]:
    response_200 = []
    _response_200 = response.json()
    for response_200_item_data in _response_200:
        response_200_item = ApiKey.from_dict(response_200_item_data)

        response_200.append(response_200_item)

    return response_200
