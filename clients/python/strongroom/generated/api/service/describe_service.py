from typing import Any

import httpx

from ...models.describe_service_response_200 import DescribeServiceResponse200
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
        "url": "/openapi.json",
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> DescribeServiceResponse200:
    response_200 = DescribeServiceResponse200.from_dict(response.json())

    return response_200
