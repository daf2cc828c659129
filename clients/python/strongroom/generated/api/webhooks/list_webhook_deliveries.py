from typing import Any

import httpx

from ....arguments import path_segment
from ...models.list_webhook_deliveries_outcome import ListWebhookDeliveriesOutcome
from ...models.list_webhook_deliveries_response_200 import (
    ListWebhookDeliveriesResponse200,
)
from ...types import UNSET, Unset


def request(
    id: str,
    *,
    page: int | Unset = UNSET,
    size: int | Unset = UNSET,
    outcome: ListWebhookDeliveriesOutcome | Unset = UNSET,
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

    params["page"] = page

    params["size"] = size

    json_outcome: str | Unset = UNSET
    if not isinstance(outcome, Unset):
        json_outcome = outcome

    params["outcome"] = json_outcome

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/webhooks/{id}/deliveries".format(
            id=path_segment("id", id),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> ListWebhookDeliveriesResponse200:
    response_200 = ListWebhookDeliveriesResponse200.from_dict(response.json())

    return response_200
