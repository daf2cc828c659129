from typing import Any

import httpx

from ....arguments import check_list, check_members
from ...models.list_tokens_metadata_filter import ListTokensMetadataFilter
from ...models.list_tokens_type_item import ListTokensTypeItem
from ...models.token_page import TokenPage
from ...types import UNSET, Unset


def request(
    *,
    page: int | Unset = UNSET,
    size: int | Unset = UNSET,
    id: list[str] | Unset = UNSET,
    type_: list[ListTokensTypeItem] | Unset = UNSET,
    metadata_filter: ListTokensMetadataFilter | Unset = UNSET,
    metadata: str | Unset = UNSET,
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

    json_metadata_filter: dict[str, Any] | Unset = UNSET
    if not isinstance(metadata_filter, Unset):
        json_metadata_filter = metadata_filter.to_dict()
    if not isinstance(json_metadata_filter, Unset):
        params.update(json_metadata_filter)

    params["metadata"] = metadata

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    if not isinstance(metadata_filter, Unset):
        check_members(
            "metadata_filter",
            metadata_filter.to_dict(),
            "metadata.",
        )

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/tokens",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> TokenPage:
    response_200 = TokenPage.from_dict(response.json())

    return response_200
