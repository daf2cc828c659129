from typing import Any

import httpx

from ...models.tenant import Tenant
from ...models.update_tenant_body import UpdateTenantBody
from ...types import UNSET, Unset


def request(
    *,
    body: UpdateTenantBody,
    service_trace_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/tenants/self",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> Tenant:
    response_200 = Tenant.from_dict(response.json())

    return response_200
