from typing import Any

import httpx

from ...types import UNSET, Unset


def request(
    *,
    body: Any,
    service_trace_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/detokenize",
    }
    _kwargs["json"] = body

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> Any:
    response_200 = response.json()
    return response_200
