from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.tenant_settings import TenantSettings


T = TypeVar("T", bound="Tenant")


@_attrs_define(repr=False)
class Tenant:
    """A tenant with its settings.

    Attributes:
        id (str): The tenant’s id.
        name (str): The human-readable name of the tenant.
        settings (TenantSettings): The tenant’s settings.
        created_by (str): Who created it. The id of an application, or `operator` for the command line.
        created_at (datetime.datetime): When it was created.
        modified_by (str | Unset): Who changed it last. The id of an application, or `operator` for the command line.
            Absent before the first change.
        modified_at (datetime.datetime | Unset): When it was last changed. Absent before the first change.
        field_warnings (list[str] | Unset): Warnings about what the current settings expose. Absent if they expose
            nothing.
    """

    id: str
    name: str
    settings: TenantSettings
    created_by: str
    created_at: datetime.datetime
    modified_by: str | Unset = UNSET
    modified_at: datetime.datetime | Unset = UNSET
    field_warnings: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        settings = self.settings.to_dict()

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        modified_by = self.modified_by

        modified_at: str | Unset = UNSET
        if not isinstance(self.modified_at, Unset):
            modified_at = self.modified_at.isoformat()

        field_warnings: list[str] | Unset = UNSET
        if not isinstance(self.field_warnings, Unset):
            field_warnings = self.field_warnings

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "name": name,
                "settings": settings,
                "created_by": created_by,
                "created_at": created_at,
            }
        )
        if modified_by is not UNSET:
            field_dict["modified_by"] = modified_by
        if modified_at is not UNSET:
            field_dict["modified_at"] = modified_at
        if field_warnings is not UNSET:
            field_dict["_warnings"] = field_warnings

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.tenant_settings import TenantSettings  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        settings = TenantSettings.from_dict(d.pop("settings"))

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        modified_by = d.pop("modified_by", UNSET)

        _modified_at = d.pop("modified_at", UNSET)
        modified_at: datetime.datetime | Unset
        if isinstance(_modified_at, Unset):
            modified_at = UNSET
        else:
            modified_at = datetime.datetime.fromisoformat(_modified_at)

        field_warnings = cast(list[str], d.pop("_warnings", UNSET))

        tenant = cls(
            id=id,
            name=name,
            settings=settings,
            created_by=created_by,
            created_at=created_at,
            modified_by=modified_by,
            modified_at=modified_at,
            field_warnings=field_warnings,
        )

        return tenant
