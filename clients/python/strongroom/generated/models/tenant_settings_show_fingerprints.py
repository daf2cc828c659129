from typing import Literal, cast

TenantSettingsShowFingerprints = Literal["false", "true"]


def check_tenant_settings_show_fingerprints(value: str) -> TenantSettingsShowFingerprints:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(TenantSettingsShowFingerprints, value)
