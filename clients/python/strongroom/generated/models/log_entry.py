from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.log_entry_actor_type import LogEntryActorType, check_log_entry_actor_type
from ..models.log_entry_outcome import LogEntryOutcome, check_log_entry_outcome
from ..types import UNSET, Unset

T = TypeVar("T", bound="LogEntry")


@_attrs_define(repr=False)
class LogEntry:
    """An entry of the access log.

    Attributes:
        tenant_id (str): The tenant of the entry.
        actor_id (str): Who performed the operation: the id of an application, `operator` (the command line, or an
            operator in the console) or `system`.
        actor_type (LogEntryActorType): The kind of actor.
        entity_type (str): The kind of entity: token, application, key, tenant, report, log, service or webhook.
        operation (str): The operation: create, read, reveal, update, delete, expiry, purge, start, stop, rotation,
            sign_in, sign_out or loss.
        outcome (LogEntryOutcome): The outcome of the operation.
        message (str): A human-readable message. It never contains data.
        created_at (datetime.datetime): When the operation was performed.
        key_id (str | Unset): The id of the API key that was used. Absent if no key was used.
        source_address (str | Unset): The address that the request came from. Absent if no request caused the entry.
        entity_id (str | Unset): The id of the entity. The id of a token is present only while the token is live, and in
            responses that are filtered by that id.
        entity_ref (str | Unset): A keyed hash of the id. Absent if there is no id.
        trace_id (str | Unset): The trace id of the request. Absent if no request caused the entry.
        person (str | Unset): The person who made the request, as stated by the console or the application. Absent if no
            person was stated.
        person_issuer (str | Unset): The identity provider that stated the name. Absent if the person or the application
            stated it.
        reason (str | Unset): The reason for the request. Absent if no reason was given.
    """

    tenant_id: str
    actor_id: str
    actor_type: LogEntryActorType
    entity_type: str
    operation: str
    outcome: LogEntryOutcome
    message: str
    created_at: datetime.datetime
    key_id: str | Unset = UNSET
    source_address: str | Unset = UNSET
    entity_id: str | Unset = UNSET
    entity_ref: str | Unset = UNSET
    trace_id: str | Unset = UNSET
    person: str | Unset = UNSET
    person_issuer: str | Unset = UNSET
    reason: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        tenant_id = self.tenant_id

        actor_id = self.actor_id

        actor_type: str = self.actor_type

        entity_type = self.entity_type

        operation = self.operation

        outcome: str = self.outcome

        message = self.message

        created_at = self.created_at.isoformat()

        key_id = self.key_id

        source_address = self.source_address

        entity_id = self.entity_id

        entity_ref = self.entity_ref

        trace_id = self.trace_id

        person = self.person

        person_issuer = self.person_issuer

        reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "tenant_id": tenant_id,
                "actor_id": actor_id,
                "actor_type": actor_type,
                "entity_type": entity_type,
                "operation": operation,
                "outcome": outcome,
                "message": message,
                "created_at": created_at,
            }
        )
        if key_id is not UNSET:
            field_dict["key_id"] = key_id
        if source_address is not UNSET:
            field_dict["source_address"] = source_address
        if entity_id is not UNSET:
            field_dict["entity_id"] = entity_id
        if entity_ref is not UNSET:
            field_dict["entity_ref"] = entity_ref
        if trace_id is not UNSET:
            field_dict["trace_id"] = trace_id
        if person is not UNSET:
            field_dict["person"] = person
        if person_issuer is not UNSET:
            field_dict["person_issuer"] = person_issuer
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        tenant_id = d.pop("tenant_id")

        actor_id = d.pop("actor_id")

        actor_type = check_log_entry_actor_type(d.pop("actor_type"))

        entity_type = d.pop("entity_type")

        operation = d.pop("operation")

        outcome = check_log_entry_outcome(d.pop("outcome"))

        message = d.pop("message")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        key_id = d.pop("key_id", UNSET)

        source_address = d.pop("source_address", UNSET)

        entity_id = d.pop("entity_id", UNSET)

        entity_ref = d.pop("entity_ref", UNSET)

        trace_id = d.pop("trace_id", UNSET)

        person = d.pop("person", UNSET)

        person_issuer = d.pop("person_issuer", UNSET)

        reason = d.pop("reason", UNSET)

        log_entry = cls(
            tenant_id=tenant_id,
            actor_id=actor_id,
            actor_type=actor_type,
            entity_type=entity_type,
            operation=operation,
            outcome=outcome,
            message=message,
            created_at=created_at,
            key_id=key_id,
            source_address=source_address,
            entity_id=entity_id,
            entity_ref=entity_ref,
            trace_id=trace_id,
            person=person,
            person_issuer=person_issuer,
            reason=reason,
        )

        return log_entry
