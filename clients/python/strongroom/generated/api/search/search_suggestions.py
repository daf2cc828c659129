from typing import Any

import httpx

from ...models.search_suggestions import SearchSuggestions
from ...types import UNSET, Unset


def request(
    *,
    prefix: str | Unset = "",
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

    params["prefix"] = prefix

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/tokens/search/suggestions",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> SearchSuggestions:
    response_200 = SearchSuggestions.from_dict(response.json())

    return response_200
