from typing import Any

import httpx

from ....arguments import path_segment
from ...models.issued_api_key import IssuedApiKey
from ...types import UNSET, Unset


def request(
    id: str,
    *,
    service_idempotency_key: str | Unset = UNSET,
    service_trace_id: str | Unset = UNSET,
    service_person: str | Unset = UNSET,
    service_reason: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_idempotency_key, Unset):
        headers["SERVICE-IDEMPOTENCY-KEY"] = service_idempotency_key

    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    if not isinstance(service_person, Unset):
        headers["SERVICE-PERSON"] = service_person

    if not isinstance(service_reason, Unset):
        headers["SERVICE-REASON"] = service_reason

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/applications/{id}/keys".format(
            id=path_segment("id", id),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> IssuedApiKey:
    response_201 = IssuedApiKey.from_dict(response.json())

    return response_201
