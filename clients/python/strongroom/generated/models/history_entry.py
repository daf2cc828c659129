from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.history_entry_type import HistoryEntryType, check_history_entry_type
from ..types import UNSET, Unset

T = TypeVar("T", bound="HistoryEntry")


@_attrs_define(repr=False)
class HistoryEntry:
    """An event of a token, without values.

    Attributes:
        type_ (HistoryEntryType): What happened to the token.
        revision (int): The revision of the token after the event.
        actor_id (str): The id of an application, or `system` if no request caused the event.
        created_at (datetime.datetime): When it happened.
        changed (list[str]): The names of the fields that changed. Never their values.
        trace_id (str | Unset): The trace id of the request. Absent if no request caused the event.
        person (str | Unset): The person who made the request, as stated by the console or the application. Present only
            for callers with `log:read`.
        person_issuer (str | Unset): The identity provider that stated the name. Absent if the person or the application
            stated it.
        life (int | Unset): The number of the life of the id that the event belongs to, starting at 1. Present only for
            callers with `log:read`.
    """

    type_: HistoryEntryType
    revision: int
    actor_id: str
    created_at: datetime.datetime
    changed: list[str]
    trace_id: str | Unset = UNSET
    person: str | Unset = UNSET
    person_issuer: str | Unset = UNSET
    life: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        revision = self.revision

        actor_id = self.actor_id

        created_at = self.created_at.isoformat()

        changed = self.changed

        trace_id = self.trace_id

        person = self.person

        person_issuer = self.person_issuer

        life = self.life

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "revision": revision,
                "actor_id": actor_id,
                "created_at": created_at,
                "changed": changed,
            }
        )
        if trace_id is not UNSET:
            field_dict["trace_id"] = trace_id
        if person is not UNSET:
            field_dict["person"] = person
        if person_issuer is not UNSET:
            field_dict["person_issuer"] = person_issuer
        if life is not UNSET:
            field_dict["life"] = life

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = check_history_entry_type(d.pop("type"))

        revision = d.pop("revision")

        actor_id = d.pop("actor_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        changed = cast(list[str], d.pop("changed"))

        trace_id = d.pop("trace_id", UNSET)

        person = d.pop("person", UNSET)

        person_issuer = d.pop("person_issuer", UNSET)

        life = d.pop("life", UNSET)

        history_entry = cls(
            type_=type_,
            revision=revision,
            actor_id=actor_id,
            created_at=created_at,
            changed=changed,
            trace_id=trace_id,
            person=person,
            person_issuer=person_issuer,
            life=life,
        )

        return history_entry
