from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.application_with_key_permissions_item import (
    ApplicationWithKeyPermissionsItem,
    check_application_with_key_permissions_item,
)
from ..models.application_with_key_type import (
    ApplicationWithKeyType,
    check_application_with_key_type,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.access_rule import AccessRule


T = TypeVar("T", bound="ApplicationWithKey")


@_attrs_define(repr=False)
class ApplicationWithKey:
    """A new application with its first key.

    Attributes:
        id (str): The id of the application.
        tenant_id (str): The tenant of the application.
        type_ (ApplicationWithKeyType): The type of the application. It determines which permissions the application may
            hold, and never changes.
        created_by (str): Who created it. The id of an application, or `operator` for the command line.
        created_at (datetime.datetime): When it was created.
        name (str | Unset): The human-readable name of the application. Absent only if a retry of the request may not
            show later changes.
        permissions (list[ApplicationWithKeyPermissionsItem] | Unset): What the application may do with every token.
            Absent if it has rules.
        rules (list[AccessRule] | Unset): What the application may do with which tokens. Absent if it has permissions.
        expires_at (datetime.datetime | Unset): When the keys of the application stop working. Absent if they never do.
        modified_by (str | Unset): Who changed it last. The id of an application, or `operator` for the command line.
            Absent before the first change.
        modified_at (datetime.datetime | Unset): When it was last changed. Absent before the first change.
        key (str | Unset): The first API key. Only this response shows it. A retry with the same idempotency key does
            not.
    """

    id: str
    tenant_id: str
    type_: ApplicationWithKeyType
    created_by: str
    created_at: datetime.datetime
    name: str | Unset = UNSET
    permissions: list[ApplicationWithKeyPermissionsItem] | Unset = UNSET
    rules: list[AccessRule] | Unset = UNSET
    expires_at: datetime.datetime | Unset = UNSET
    modified_by: str | Unset = UNSET
    modified_at: datetime.datetime | Unset = UNSET
    key: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        tenant_id = self.tenant_id

        type_: str = self.type_

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        name = self.name

        permissions: list[str] | Unset = UNSET
        if not isinstance(self.permissions, Unset):
            permissions = []
            for permissions_item_data in self.permissions:
                permissions_item: str = permissions_item_data
                permissions.append(permissions_item)

        rules: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.rules, Unset):
            rules = []
            for rules_item_data in self.rules:
                rules_item = rules_item_data.to_dict()
                rules.append(rules_item)

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        modified_by = self.modified_by

        modified_at: str | Unset = UNSET
        if not isinstance(self.modified_at, Unset):
            modified_at = self.modified_at.isoformat()

        key = self.key

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "tenant_id": tenant_id,
                "type": type_,
                "created_by": created_by,
                "created_at": created_at,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name
        if permissions is not UNSET:
            field_dict["permissions"] = permissions
        if rules is not UNSET:
            field_dict["rules"] = rules
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if modified_by is not UNSET:
            field_dict["modified_by"] = modified_by
        if modified_at is not UNSET:
            field_dict["modified_at"] = modified_at
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.access_rule import AccessRule  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        tenant_id = d.pop("tenant_id")

        type_ = check_application_with_key_type(d.pop("type"))

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        name = d.pop("name", UNSET)

        _permissions = d.pop("permissions", UNSET)
        permissions: list[ApplicationWithKeyPermissionsItem] | Unset = UNSET
        if _permissions is not UNSET:
            permissions = []
            for permissions_item_data in _permissions:
                permissions_item = check_application_with_key_permissions_item(permissions_item_data)

                permissions.append(permissions_item)

        _rules = d.pop("rules", UNSET)
        rules: list[AccessRule] | Unset = UNSET
        if _rules is not UNSET:
            rules = []
            for rules_item_data in _rules:
                rules_item = AccessRule.from_dict(rules_item_data)

                rules.append(rules_item)

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        modified_by = d.pop("modified_by", UNSET)

        _modified_at = d.pop("modified_at", UNSET)
        modified_at: datetime.datetime | Unset
        if isinstance(_modified_at, Unset):
            modified_at = UNSET
        else:
            modified_at = datetime.datetime.fromisoformat(_modified_at)

        key = d.pop("key", UNSET)

        application_with_key = cls(
            id=id,
            tenant_id=tenant_id,
            type_=type_,
            created_by=created_by,
            created_at=created_at,
            name=name,
            permissions=permissions,
            rules=rules,
            expires_at=expires_at,
            modified_by=modified_by,
            modified_at=modified_at,
            key=key,
        )

        return application_with_key
