from typing import Any

import httpx

from ...models.search_tokens_v2_body import SearchTokensV2Body
from ...models.token_cursor_page import TokenCursorPage
from ...types import UNSET, Unset


def request(
    *,
    body: SearchTokensV2Body,
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

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/v2/tokens/search",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> TokenCursorPage:
    response_200 = TokenCursorPage.from_dict(response.json())

    return response_200
