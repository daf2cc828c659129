from typing import Literal, cast

TenantSettingsShowFingerprints = Literal["false", "true"]


def check_tenant_settings_show_fingerprints(value: str) -> TenantSettingsShowFingerprints:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(TenantSettingsShowFingerprints, value)
