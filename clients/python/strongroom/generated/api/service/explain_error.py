from typing import Any

import httpx

from ....arguments import path_segment
from ...types import UNSET, Unset


def request(
    code: str,
    *,
    service_trace_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/errors/{code}".format(
            code=path_segment("code", code),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> str:
    response_200 = response.text
    return response_200
