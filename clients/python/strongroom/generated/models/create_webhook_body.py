from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CreateWebhookBody")


@_attrs_define(repr=False)
class CreateWebhookBody:
    """
    Attributes:
        url (str): The URL that deliveries are posted to: an https:// URL on the public internet, at most 2,000
            characters long.
        event_types (list[str]): The events to deliver: one or more of token.created, token.updated, token.deleted,
            token.expired, token.property.expired, application.created, application.updated, application.deleted,
            application.key.issued, application.key.revoked, access.denied.
        description (None | str | Unset): A human-readable description of at most 200 characters.
        enabled (bool | None | Unset): Whether events are delivered. Default: true. Once enabled again, deliveries
            continue where they stopped.
        token_types (list[str] | None | Unset): Of the token.* events, delivers only those of tokens of these types:
            token, card, bank, card_number, us_bank_account_number, us_bank_routing_number, social_security_number,
            employer_id_number. Default: all. It does not filter other events.
        containers (list[str] | None | Unset): Of the token.* events, delivers only those of tokens in these containers
            (at most 10) or their sub-containers. Default: all. It does not filter other events.
    """

    url: str
    event_types: list[str]
    description: None | str | Unset = UNSET
    enabled: bool | None | Unset = UNSET
    token_types: list[str] | None | Unset = UNSET
    containers: list[str] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        event_types = self.event_types

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        enabled: bool | None | Unset
        if isinstance(self.enabled, Unset):
            enabled = UNSET
        else:
            enabled = self.enabled

        token_types: list[str] | None | Unset
        if isinstance(self.token_types, Unset):
            token_types = UNSET
        elif isinstance(self.token_types, list):
            token_types = self.token_types

        else:
            token_types = self.token_types

        containers: list[str] | None | Unset
        if isinstance(self.containers, Unset):
            containers = UNSET
        elif isinstance(self.containers, list):
            containers = self.containers

        else:
            containers = self.containers

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "url": url,
                "event_types": event_types,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if enabled is not UNSET:
            field_dict["enabled"] = enabled
        if token_types is not UNSET:
            field_dict["token_types"] = token_types
        if containers is not UNSET:
            field_dict["containers"] = containers

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url")

        event_types = cast(list[str], d.pop("event_types"))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        def _parse_token_types(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                token_types_type_0 = cast(list[str], data)

                return token_types_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        token_types = _parse_token_types(d.pop("token_types", UNSET))

        def _parse_containers(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                containers_type_0 = cast(list[str], data)

                return containers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        containers = _parse_containers(d.pop("containers", UNSET))

        create_webhook_body = cls(
            url=url,
            event_types=event_types,
            description=description,
            enabled=enabled,
            token_types=token_types,
            containers=containers,
        )

        create_webhook_body.additional_properties = d
        return create_webhook_body

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
