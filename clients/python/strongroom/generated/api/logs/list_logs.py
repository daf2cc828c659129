from typing import Any

import httpx

from ...models.list_logs_entity_type import ListLogsEntityType
from ...models.list_logs_operation import ListLogsOperation
from ...models.list_logs_response_200 import ListLogsResponse200
from ...types import UNSET, Unset


def request(
    *,
    page: int | Unset = UNSET,
    size: int | Unset = UNSET,
    entity_type: ListLogsEntityType | Unset = UNSET,
    entity_id: str | Unset = UNSET,
    operation: ListLogsOperation | Unset = UNSET,
    start_date: str | Unset = UNSET,
    end_date: str | Unset = UNSET,
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

    json_entity_type: str | Unset = UNSET
    if not isinstance(entity_type, Unset):
        json_entity_type = entity_type

    params["entity_type"] = json_entity_type

    params["entity_id"] = entity_id

    json_operation: str | Unset = UNSET
    if not isinstance(operation, Unset):
        json_operation = operation

    params["operation"] = json_operation

    params["start_date"] = start_date

    params["end_date"] = end_date

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/logs",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def parse(response: httpx.Response) -> ListLogsResponse200:
    response_200 = ListLogsResponse200.from_dict(response.json())

    return response_200
