from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.update_application_body_rules_type_0_item_permissions_item import (
    UpdateApplicationBodyRulesType0ItemPermissionsItem,
    check_update_application_body_rules_type_0_item_permissions_item,
)
from ..models.update_application_body_rules_type_0_item_transform import (
    UpdateApplicationBodyRulesType0ItemTransform,
    check_update_application_body_rules_type_0_item_transform,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="UpdateApplicationBodyRulesType0Item")


@_attrs_define(repr=False)
class UpdateApplicationBodyRulesType0Item:
    """
    Attributes:
        container (str): The container that the rule covers, with its sub-containers, such as `/pci/`.
        transform (UpdateApplicationBodyRulesType0ItemTransform): What the caller sees of the data.
        permissions (list[UpdateApplicationBodyRulesType0ItemPermissionsItem]): What the caller may do with the tokens.
        description (None | str | Unset): A human-readable description.
        priority (int | None | Unset): Rules with a lower number are tried first. Default: 1.
    """

    container: str
    transform: UpdateApplicationBodyRulesType0ItemTransform
    permissions: list[UpdateApplicationBodyRulesType0ItemPermissionsItem]
    description: None | str | Unset = UNSET
    priority: int | None | Unset = 1

    def to_dict(self) -> dict[str, Any]:
        container = self.container

        transform: str = self.transform

        permissions = []
        for permissions_item_data in self.permissions:
            permissions_item: str = permissions_item_data
            permissions.append(permissions_item)

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        priority: int | None | Unset
        if isinstance(self.priority, Unset):
            priority = UNSET
        else:
            priority = self.priority

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "container": container,
                "transform": transform,
                "permissions": permissions,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if priority is not UNSET:
            field_dict["priority"] = priority

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        container = d.pop("container")

        transform = check_update_application_body_rules_type_0_item_transform(d.pop("transform"))

        permissions = []
        _permissions = d.pop("permissions")
        for permissions_item_data in _permissions:
            permissions_item = check_update_application_body_rules_type_0_item_permissions_item(permissions_item_data)

            permissions.append(permissions_item)

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_priority(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        priority = _parse_priority(d.pop("priority", UNSET))

        update_application_body_rules_type_0_item = cls(
            container=container,
            transform=transform,
            permissions=permissions,
            description=description,
            priority=priority,
        )

        return update_application_body_rules_type_0_item
