from typing import Literal, cast

UpdateTenantBodySettingsType0AdditionalPropertyType1 = Literal["false", "true"]


def check_update_tenant_body_settings_type_0_additional_property_type_1(
    value: str,
) -> UpdateTenantBodySettingsType0AdditionalPropertyType1:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(UpdateTenantBodySettingsType0AdditionalPropertyType1, value)
