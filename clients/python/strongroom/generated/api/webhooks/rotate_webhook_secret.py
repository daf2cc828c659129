from typing import Any

import httpx

from ....arguments import path_segment
from ...models.rotate_webhook_secret_body import RotateWebhookSecretBody
from ...models.webhook_with_secret import WebhookWithSecret
from ...types import UNSET, Unset


def request(
    id: str,
    *,
    body: RotateWebhookSecretBody,
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
        "url": "/webhooks/{id}/secret".format(
            id=path_segment("id", id),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> WebhookWithSecret:
    response_200 = WebhookWithSecret.from_dict(response.json())

    return response_200
