from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.webhook_event_types_item import (
    WebhookEventTypesItem,
    check_webhook_event_types_item,
)
from ..models.webhook_token_types_item import (
    WebhookTokenTypesItem,
    check_webhook_token_types_item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="Webhook")


@_attrs_define(repr=False)
class Webhook:
    """A webhook, without its secrets.

    Attributes:
        id (str): The id of the webhook.
        tenant_id (str): The tenant of the webhook.
        url (str): The URL that deliveries are posted to.
        enabled (bool): Whether events are delivered.
        event_types (list[WebhookEventTypesItem]): The events that are delivered.
        created_by (str): Who created it. The id of an application, or `operator` for the command line.
        created_at (datetime.datetime): When it was created.
        description (str | Unset): A human-readable description. Absent if the webhook has no description.
        token_types (list[WebhookTokenTypesItem] | Unset): Of the token.* events, delivers only those of tokens of these
            types. Absent if all types are delivered.
        containers (list[str] | Unset): Of the token.* events, delivers only those of tokens in these containers or
            their sub-containers. Absent if the events of tokens in all containers are delivered.
        old_secrets_end_at (datetime.datetime | Unset): The time until which deliveries are also signed with older
            secrets. Absent if there is only one secret.
        modified_by (str | Unset): Who changed it last. The id of an application, or `operator` for the command line.
            Absent before the first change.
        modified_at (datetime.datetime | Unset): When it was last changed. Absent before the first change.
    """

    id: str
    tenant_id: str
    url: str
    enabled: bool
    event_types: list[WebhookEventTypesItem]
    created_by: str
    created_at: datetime.datetime
    description: str | Unset = UNSET
    token_types: list[WebhookTokenTypesItem] | Unset = UNSET
    containers: list[str] | Unset = UNSET
    old_secrets_end_at: datetime.datetime | Unset = UNSET
    modified_by: str | Unset = UNSET
    modified_at: datetime.datetime | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        tenant_id = self.tenant_id

        url = self.url

        enabled = self.enabled

        event_types = []
        for event_types_item_data in self.event_types:
            event_types_item: str = event_types_item_data
            event_types.append(event_types_item)

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        description = self.description

        token_types: list[str] | Unset = UNSET
        if not isinstance(self.token_types, Unset):
            token_types = []
            for token_types_item_data in self.token_types:
                token_types_item: str = token_types_item_data
                token_types.append(token_types_item)

        containers: list[str] | Unset = UNSET
        if not isinstance(self.containers, Unset):
            containers = self.containers

        old_secrets_end_at: str | Unset = UNSET
        if not isinstance(self.old_secrets_end_at, Unset):
            old_secrets_end_at = self.old_secrets_end_at.isoformat()

        modified_by = self.modified_by

        modified_at: str | Unset = UNSET
        if not isinstance(self.modified_at, Unset):
            modified_at = self.modified_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "tenant_id": tenant_id,
                "url": url,
                "enabled": enabled,
                "event_types": event_types,
                "created_by": created_by,
                "created_at": created_at,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if token_types is not UNSET:
            field_dict["token_types"] = token_types
        if containers is not UNSET:
            field_dict["containers"] = containers
        if old_secrets_end_at is not UNSET:
            field_dict["old_secrets_end_at"] = old_secrets_end_at
        if modified_by is not UNSET:
            field_dict["modified_by"] = modified_by
        if modified_at is not UNSET:
            field_dict["modified_at"] = modified_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        tenant_id = d.pop("tenant_id")

        url = d.pop("url")

        enabled = d.pop("enabled")

        event_types = []
        _event_types = d.pop("event_types")
        for event_types_item_data in _event_types:
            event_types_item = check_webhook_event_types_item(event_types_item_data)

            event_types.append(event_types_item)

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        description = d.pop("description", UNSET)

        _token_types = d.pop("token_types", UNSET)
        token_types: list[WebhookTokenTypesItem] | Unset = UNSET
        if _token_types is not UNSET:
            token_types = []
            for token_types_item_data in _token_types:
                token_types_item = check_webhook_token_types_item(token_types_item_data)

                token_types.append(token_types_item)

        containers = cast(list[str], d.pop("containers", UNSET))

        _old_secrets_end_at = d.pop("old_secrets_end_at", UNSET)
        old_secrets_end_at: datetime.datetime | Unset
        if isinstance(_old_secrets_end_at, Unset):
            old_secrets_end_at = UNSET
        else:
            old_secrets_end_at = datetime.datetime.fromisoformat(_old_secrets_end_at)

        modified_by = d.pop("modified_by", UNSET)

        _modified_at = d.pop("modified_at", UNSET)
        modified_at: datetime.datetime | Unset
        if isinstance(_modified_at, Unset):
            modified_at = UNSET
        else:
            modified_at = datetime.datetime.fromisoformat(_modified_at)

        webhook = cls(
            id=id,
            tenant_id=tenant_id,
            url=url,
            enabled=enabled,
            event_types=event_types,
            created_by=created_by,
            created_at=created_at,
            description=description,
            token_types=token_types,
            containers=containers,
            old_secrets_end_at=old_secrets_end_at,
            modified_by=modified_by,
            modified_at=modified_at,
        )

        return webhook
