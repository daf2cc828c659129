from typing import Any

import httpx

from ....arguments import check_list
from ...models.list_applications_response_200 import ListApplicationsResponse200
from ...models.list_applications_type_item import ListApplicationsTypeItem
from ...types import UNSET, Unset


def request(
    *,
    page: int | Unset = UNSET,
    size: int | Unset = UNSET,
    id: list[str] | Unset = UNSET,
    type_: list[ListApplicationsTypeItem] | Unset = UNSET,
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

    check_list("id", id)
    check_list("type_", type_)
    params: dict[str, Any] = {}

    params["page"] = page

    params["size"] = size

    json_id: list[str] | Unset = UNSET
    if not isinstance(id, Unset):
        json_id = id

    params["id"] = json_id

    json_type_: list[str] | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = []
        for type_item_data in type_:
            type_item: str = type_item_data
            json_type_.append(type_item)

    params["type"] = json_type_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/applications",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> ListApplicationsResponse200:
    response_200 = ListApplicationsResponse200.from_dict(response.json())

    return response_200
