from typing import Any

import httpx

from ....arguments import check_list
from ...models.list_permissions_application_type_item import (
    ListPermissionsApplicationTypeItem,
)
from ...models.permission import Permission
from ...types import UNSET, Unset


def request(
    *,
    application_type: list[ListPermissionsApplicationTypeItem] | Unset = UNSET,
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

    check_list("application_type", application_type)
    params: dict[str, Any] = {}

    json_application_type: list[str] | Unset = UNSET
    if not isinstance(application_type, Unset):
        json_application_type = []
        for application_type_item_data in application_type:
            application_type_item: str = application_type_item_data
            json_application_type.append(application_type_item)

    params["application_type"] = json_application_type

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/permissions",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> list[Permission]:
    response_200 = []
    _response_200 = response.json()
    for response_200_item_data in _response_200:
        response_200_item = Permission.from_dict(response_200_item_data)

        response_200.append(response_200_item)

    return response_200
