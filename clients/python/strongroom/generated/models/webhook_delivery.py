from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.webhook_delivery_outcome import (
    WebhookDeliveryOutcome,
    check_webhook_delivery_outcome,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookDelivery")


@_attrs_define(repr=False)
class WebhookDelivery:
    """An attempt to deliver an event.

    Attributes:
        event_id (str): The id of the event, which each attempt sends in the header `webhook-id`.
        event_type (str): The type of the event.
        attempt (int): The number of the attempt, from 1.
        outcome (WebhookDeliveryOutcome): The outcome of the attempt. `parked` means that it failed and was the last
            attempt.
        duration_ms (int): How long the request took, in milliseconds.
        created_at (datetime.datetime): When the attempt was sent.
        response_status (int | Unset): The status of the response. Absent if there was none.
        problem (str | Unset): Why the attempt failed, if the status does not explain it.
        next_attempt_at (datetime.datetime | Unset): When the next attempt is due. Absent if no attempt is due.
    """

    event_id: str
    event_type: str
    attempt: int
    outcome: WebhookDeliveryOutcome
    duration_ms: int
    created_at: datetime.datetime
    response_status: int | Unset = UNSET
    problem: str | Unset = UNSET
    next_attempt_at: datetime.datetime | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        event_id = self.event_id

        event_type = self.event_type

        attempt = self.attempt

        outcome: str = self.outcome

        duration_ms = self.duration_ms

        created_at = self.created_at.isoformat()

        response_status = self.response_status

        problem = self.problem

        next_attempt_at: str | Unset = UNSET
        if not isinstance(self.next_attempt_at, Unset):
            next_attempt_at = self.next_attempt_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "event_id": event_id,
                "event_type": event_type,
                "attempt": attempt,
                "outcome": outcome,
                "duration_ms": duration_ms,
                "created_at": created_at,
            }
        )
        if response_status is not UNSET:
            field_dict["response_status"] = response_status
        if problem is not UNSET:
            field_dict["problem"] = problem
        if next_attempt_at is not UNSET:
            field_dict["next_attempt_at"] = next_attempt_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event_id = d.pop("event_id")

        event_type = d.pop("event_type")

        attempt = d.pop("attempt")

        outcome = check_webhook_delivery_outcome(d.pop("outcome"))

        duration_ms = d.pop("duration_ms")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        response_status = d.pop("response_status", UNSET)

        problem = d.pop("problem", UNSET)

        _next_attempt_at = d.pop("next_attempt_at", UNSET)
        next_attempt_at: datetime.datetime | Unset
        if isinstance(_next_attempt_at, Unset):
            next_attempt_at = UNSET
        else:
            next_attempt_at = datetime.datetime.fromisoformat(_next_attempt_at)

        webhook_delivery = cls(
            event_id=event_id,
            event_type=event_type,
            attempt=attempt,
            outcome=outcome,
            duration_ms=duration_ms,
            created_at=created_at,
            response_status=response_status,
            problem=problem,
            next_attempt_at=next_attempt_at,
        )

        return webhook_delivery
