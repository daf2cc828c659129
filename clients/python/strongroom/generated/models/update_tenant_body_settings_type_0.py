from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.update_tenant_body_settings_type_0_additional_property_type_1 import (
    UpdateTenantBodySettingsType0AdditionalPropertyType1,
    check_update_tenant_body_settings_type_0_additional_property_type_1,
)

T = TypeVar("T", bound="UpdateTenantBodySettingsType0")


@_attrs_define(repr=False)
class UpdateTenantBodySettingsType0:
    """`deduplicate_tokens`, `keep_superseded_data` and `show_fingerprints`. A setting that is absent stays the same."""

    additional_properties: dict[str, None | UpdateTenantBodySettingsType0AdditionalPropertyType1] = _attrs_field(
        init=False, factory=dict
    )

    def to_dict(self) -> dict[str, Any]:

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            if isinstance(prop, str):
                field_dict[prop_name] = prop
            else:
                field_dict[prop_name] = prop

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        update_tenant_body_settings_type_0 = cls()

        additional_properties = {}
        for prop_name, prop_dict in d.items():

            def _parse_additional_property(data: object) -> None | UpdateTenantBodySettingsType0AdditionalPropertyType1:
                if data is None:
                    return data
                try:
                    if not isinstance(data, str):
                        raise TypeError()
                    additional_property_type_1 = check_update_tenant_body_settings_type_0_additional_property_type_1(
                        data
                    )

                    return additional_property_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(None | UpdateTenantBodySettingsType0AdditionalPropertyType1, data)

            additional_property = _parse_additional_property(prop_dict)

            additional_properties[prop_name] = additional_property

        update_tenant_body_settings_type_0.additional_properties = additional_properties
        return update_tenant_body_settings_type_0

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> None | UpdateTenantBodySettingsType0AdditionalPropertyType1:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: None | UpdateTenantBodySettingsType0AdditionalPropertyType1) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
