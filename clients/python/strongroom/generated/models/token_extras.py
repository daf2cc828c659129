from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenExtras")


@_attrs_define(repr=False)
class TokenExtras:
    """Remarks about this response, such as that the token already existed. Absent if there are none.

    Attributes:
        deduplicated (bool | Unset): A live token with the same fingerprint already existed, and this is that token.
        cvc_ignored (bool | Unset): The request contained a verification code, which was not stored because the token
            already existed.
        mask_skipped (bool | Unset): The masks of the other tokens in this response used up its mask budget, so this
            token shows no data. Get this token on its own.
    """

    deduplicated: bool | Unset = UNSET
    cvc_ignored: bool | Unset = UNSET
    mask_skipped: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        deduplicated = self.deduplicated

        cvc_ignored = self.cvc_ignored

        mask_skipped = self.mask_skipped

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if deduplicated is not UNSET:
            field_dict["deduplicated"] = deduplicated
        if cvc_ignored is not UNSET:
            field_dict["cvc_ignored"] = cvc_ignored
        if mask_skipped is not UNSET:
            field_dict["mask_skipped"] = mask_skipped

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        deduplicated = d.pop("deduplicated", UNSET)

        cvc_ignored = d.pop("cvc_ignored", UNSET)

        mask_skipped = d.pop("mask_skipped", UNSET)

        token_extras = cls(
            deduplicated=deduplicated,
            cvc_ignored=cvc_ignored,
            mask_skipped=mask_skipped,
        )

        return token_extras
