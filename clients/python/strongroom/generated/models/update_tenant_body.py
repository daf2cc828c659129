from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.update_tenant_body_settings_type_0 import UpdateTenantBodySettingsType0


T = TypeVar("T", bound="UpdateTenantBody")


@_attrs_define(repr=False)
class UpdateTenantBody:
    """
    Attributes:
        name (str): A human-readable name of 1 to 200 characters.
        settings (None | Unset | UpdateTenantBodySettingsType0): `deduplicate_tokens`, `keep_superseded_data` and
            `show_fingerprints`. A setting that is absent stays the same.
    """

    name: str
    settings: None | Unset | UpdateTenantBodySettingsType0 = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.update_tenant_body_settings_type_0 import (
            UpdateTenantBodySettingsType0,  # noqa: PLC0415
        )

        name = self.name

        settings: dict[str, Any] | None | Unset
        if isinstance(self.settings, Unset):
            settings = UNSET
        elif isinstance(self.settings, UpdateTenantBodySettingsType0):
            settings = self.settings.to_dict()
        else:
            settings = self.settings

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
        if settings is not UNSET:
            field_dict["settings"] = settings

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.update_tenant_body_settings_type_0 import (
            UpdateTenantBodySettingsType0,  # noqa: PLC0415
        )

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_settings(data: object) -> None | Unset | UpdateTenantBodySettingsType0:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                settings_type_0 = UpdateTenantBodySettingsType0.from_dict(data)

                return settings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Unset | UpdateTenantBodySettingsType0, data)

        settings = _parse_settings(d.pop("settings", UNSET))

        update_tenant_body = cls(
            name=name,
            settings=settings,
        )

        update_tenant_body.additional_properties = d
        return update_tenant_body

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
