from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.tenant_settings_deduplicate_tokens import (
    TenantSettingsDeduplicateTokens,
    check_tenant_settings_deduplicate_tokens,
)
from ..models.tenant_settings_keep_superseded_data import (
    TenantSettingsKeepSupersededData,
    check_tenant_settings_keep_superseded_data,
)
from ..models.tenant_settings_show_fingerprints import (
    TenantSettingsShowFingerprints,
    check_tenant_settings_show_fingerprints,
)

T = TypeVar("T", bound="TenantSettings")


@_attrs_define(repr=False)
class TenantSettings:
    """The tenant’s settings.

    Attributes:
        deduplicate_tokens (TenantSettingsDeduplicateTokens): Whether a create or update returns an equal token instead
            of storing the value again.
        keep_superseded_data (TenantSettingsKeepSupersededData): Whether the keys of replaced data, at most 10,000 for
            each token, are kept until the token is deleted.
        show_fingerprints (TenantSettingsShowFingerprints): Whether callers without the transform `reveal` see the
            fingerprints of tokens. Equal values have equal fingerprints, so such a caller that may also create tokens can
            find hidden values by trying candidates.
    """

    deduplicate_tokens: TenantSettingsDeduplicateTokens
    keep_superseded_data: TenantSettingsKeepSupersededData
    show_fingerprints: TenantSettingsShowFingerprints

    def to_dict(self) -> dict[str, Any]:
        deduplicate_tokens: str = self.deduplicate_tokens

        keep_superseded_data: str = self.keep_superseded_data

        show_fingerprints: str = self.show_fingerprints

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "deduplicate_tokens": deduplicate_tokens,
                "keep_superseded_data": keep_superseded_data,
                "show_fingerprints": show_fingerprints,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        deduplicate_tokens = check_tenant_settings_deduplicate_tokens(d.pop("deduplicate_tokens"))

        keep_superseded_data = check_tenant_settings_keep_superseded_data(d.pop("keep_superseded_data"))

        show_fingerprints = check_tenant_settings_show_fingerprints(d.pop("show_fingerprints"))

        tenant_settings = cls(
            deduplicate_tokens=deduplicate_tokens,
            keep_superseded_data=keep_superseded_data,
            show_fingerprints=show_fingerprints,
        )

        return tenant_settings
