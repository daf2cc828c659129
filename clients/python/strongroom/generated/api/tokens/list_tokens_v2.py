from typing import Any

import httpx

from ....arguments import check_members
from ...models.list_tokens_v2_metadata_filter import ListTokensV2MetadataFilter
from ...models.list_tokens_v2_type import ListTokensV2Type
from ...models.token_cursor_page import TokenCursorPage
from ...types import UNSET, Unset


def request(
    *,
    type_: ListTokensV2Type | Unset = UNSET,
    container: str | Unset = UNSET,
    fingerprint: str | Unset = UNSET,
    metadata_filter: ListTokensV2MetadataFilter | Unset = UNSET,
    metadata: str | Unset = UNSET,
    start: str | Unset = UNSET,
    size: int | Unset = UNSET,
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

    params: dict[str, Any] = {}

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_

    params["type"] = json_type_

    params["container"] = container

    params["fingerprint"] = fingerprint

    json_metadata_filter: dict[str, Any] | Unset = UNSET
    if not isinstance(metadata_filter, Unset):
        json_metadata_filter = metadata_filter.to_dict()
    if not isinstance(json_metadata_filter, Unset):
        params.update(json_metadata_filter)

    params["metadata"] = metadata

    params["start"] = start

    params["size"] = size

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    if not isinstance(metadata_filter, Unset):
        check_members(
            "metadata_filter",
            metadata_filter.to_dict(),
            "metadata.",
        )

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/v2/tokens",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> TokenCursorPage:
    response_200 = TokenCursorPage.from_dict(response.json())

    return response_200
