from typing import Literal, cast

TenantSettingsKeepSupersededData = Literal["false", "true"]


def check_tenant_settings_keep_superseded_data(value: str) -> TenantSettingsKeepSupersededData:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(TenantSettingsKeepSupersededData, value)
