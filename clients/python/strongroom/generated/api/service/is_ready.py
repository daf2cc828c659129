from typing import Any

import httpx

from ...models.is_ready_response_200 import IsReadyResponse200
from ...types import UNSET, Unset


def request(
    *,
    service_trace_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/health/ready",
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> IsReadyResponse200:
    response_200 = IsReadyResponse200.from_dict(response.json())

    return response_200
