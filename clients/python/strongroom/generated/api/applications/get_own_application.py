from typing import Any

import httpx

from ...models.application import Application
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
        "url": "/applications/key",
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> Application:
    response_200 = Application.from_dict(response.json())

    return response_200
