from typing import Any

import httpx

from ...models.create_webhook_body import CreateWebhookBody
from ...models.webhook_with_secret import WebhookWithSecret
from ...types import UNSET, Unset


def request(
    *,
    body: CreateWebhookBody,
    service_trace_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(service_trace_id, Unset):
        headers["SERVICE-TRACE-ID"] = service_trace_id

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/webhooks",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> WebhookWithSecret:
    response_201 = WebhookWithSecret.from_dict(response.json())

    return response_201
