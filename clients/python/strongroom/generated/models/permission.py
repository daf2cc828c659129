from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.permission_application_types_item import (
    PermissionApplicationTypesItem,
    check_permission_application_types_item,
)
from ..models.permission_type import PermissionType, check_permission_type

T = TypeVar("T", bound="Permission")


@_attrs_define(repr=False)
class Permission:
    """A permission that an application may hold.

    Attributes:
        type_ (PermissionType): The name of the permission.
        description (str): A human-readable description of what the permission allows.
        application_types (list[PermissionApplicationTypesItem]): The application types that may hold the permission.
    """

    type_: PermissionType
    description: str
    application_types: list[PermissionApplicationTypesItem]

    def to_dict(self) -> dict[str, Any]:
        type_: str = self.type_

        description = self.description

        application_types = []
        for application_types_item_data in self.application_types:
            application_types_item: str = application_types_item_data
            application_types.append(application_types_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "description": description,
                "application_types": application_types,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = check_permission_type(d.pop("type"))

        description = d.pop("description")

        application_types = []
        _application_types = d.pop("application_types")
        for application_types_item_data in _application_types:
            application_types_item = check_permission_application_types_item(application_types_item_data)

            application_types.append(application_types_item)

        permission = cls(
            type_=type_,
            description=description,
            application_types=application_types,
        )

        return permission
