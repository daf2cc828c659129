from typing import Any

import httpx

from ...models.delete_tenant_body import DeleteTenantBody
from ...types import UNSET, Unset


def request(
    *,
    body: DeleteTenantBody,
    service_trace_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/tenants/self",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> None:
    return None
