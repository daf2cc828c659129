from typing import Literal, cast

TenantSettingsDeduplicateTokens = Literal["false", "true"]


def check_tenant_settings_deduplicate_tokens(value: str) -> TenantSettingsDeduplicateTokens:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(TenantSettingsDeduplicateTokens, value)
