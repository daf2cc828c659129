from typing import Any

import httpx

from ...models.create_webhook_body import CreateWebhookBody
from ...models.webhook_with_secret import WebhookWithSecret
from ...types import UNSET, Unset


def request(
    *,
    body: CreateWebhookBody,
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
        "url": "/webhooks",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> WebhookWithSecret:
    response_201 = WebhookWithSecret.from_dict(response.json())

    return response_201
