from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.access_rule_permissions_item import (
    AccessRulePermissionsItem,
    check_access_rule_permissions_item,
)
from ..models.access_rule_transform import (
    AccessRuleTransform,
    check_access_rule_transform,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="AccessRule")


@_attrs_define(repr=False)
class AccessRule:
    """What an application may do with the tokens in a container, and what it sees of their data.

    Attributes:
        priority (int): Rules with a lower number are tried first.
        container (str): The container that the rule covers, including its children. In lower case, with `/` at both
            ends.
        transform (AccessRuleTransform): What the caller sees of the data: all of it, the masked data, or nothing.
        permissions (list[AccessRulePermissionsItem]): What the caller may do with the tokens.
        description (str | Unset): A human-readable description. Absent if the rule has none.
    """

    priority: int
    container: str
    transform: AccessRuleTransform
    permissions: list[AccessRulePermissionsItem]
    description: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        priority = self.priority

        container = self.container

        transform: str = self.transform

        permissions = []
        for permissions_item_data in self.permissions:
            permissions_item: str = permissions_item_data
            permissions.append(permissions_item)

        description = self.description

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "priority": priority,
                "container": container,
                "transform": transform,
                "permissions": permissions,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        priority = d.pop("priority")

        container = d.pop("container")

        transform = check_access_rule_transform(d.pop("transform"))

        permissions = []
        _permissions = d.pop("permissions")
        for permissions_item_data in _permissions:
            permissions_item = check_access_rule_permissions_item(permissions_item_data)

            permissions.append(permissions_item)

        description = d.pop("description", UNSET)

        access_rule = cls(
            priority=priority,
            container=container,
            transform=transform,
            permissions=permissions,
            description=description,
        )

        return access_rule
