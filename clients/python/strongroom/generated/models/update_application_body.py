from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.update_application_body_rules_type_0_item import (
        UpdateApplicationBodyRulesType0Item,
    )


T = TypeVar("T", bound="UpdateApplicationBody")


@_attrs_define(repr=False)
class UpdateApplicationBody:
    """
    Attributes:
        name (str): A human-readable name of 1 to 200 characters.
        type_ (Any | Unset): The type of the application. It cannot be changed: any other type returns 400.
        permissions (list[str] | None | Unset): 1 to 50 permissions that the type may hold (`GET /permissions`). Send
            either `permissions` or `rules`.
        rules (list[UpdateApplicationBodyRulesType0Item] | None | Unset): 1 to 50 access rules. Send either `rules` or
            `permissions`.
        expires_at (None | str | Unset): When the keys of the application stop working, in any format that a token’s
            `expires_at` accepts. Null means never.
    """

    name: str
    type_: Any | Unset = UNSET
    permissions: list[str] | None | Unset = UNSET
    rules: list[UpdateApplicationBodyRulesType0Item] | None | Unset = UNSET
    expires_at: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        type_ = self.type_

        permissions: list[str] | None | Unset
        if isinstance(self.permissions, Unset):
            permissions = UNSET
        elif isinstance(self.permissions, list):
            permissions = self.permissions

        else:
            permissions = self.permissions

        rules: list[dict[str, Any]] | None | Unset
        if isinstance(self.rules, Unset):
            rules = UNSET
        elif isinstance(self.rules, list):
            rules = []
            for rules_type_0_item_data in self.rules:
                rules_type_0_item = rules_type_0_item_data.to_dict()
                rules.append(rules_type_0_item)

        else:
            rules = self.rules

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
        if type_ is not UNSET:
            field_dict["type"] = type_
        if permissions is not UNSET:
            field_dict["permissions"] = permissions
        if rules is not UNSET:
            field_dict["rules"] = rules
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.update_application_body_rules_type_0_item import (
            UpdateApplicationBodyRulesType0Item,  # noqa: PLC0415
        )

        d = dict(src_dict)
        name = d.pop("name")

        type_ = d.pop("type", UNSET)

        def _parse_permissions(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                permissions_type_0 = cast(list[str], data)

                return permissions_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        permissions = _parse_permissions(d.pop("permissions", UNSET))

        def _parse_rules(data: object) -> list[UpdateApplicationBodyRulesType0Item] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                rules_type_0 = []
                _rules_type_0 = data
                for rules_type_0_item_data in _rules_type_0:
                    rules_type_0_item = UpdateApplicationBodyRulesType0Item.from_dict(rules_type_0_item_data)

                    rules_type_0.append(rules_type_0_item)

                return rules_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[UpdateApplicationBodyRulesType0Item] | None | Unset, data)

        rules = _parse_rules(d.pop("rules", UNSET))

        def _parse_expires_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        update_application_body = cls(
            name=name,
            type_=type_,
            permissions=permissions,
            rules=rules,
            expires_at=expires_at,
        )

        update_application_body.additional_properties = d
        return update_application_body

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
