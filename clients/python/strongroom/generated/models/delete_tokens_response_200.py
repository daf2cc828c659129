from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="DeleteTokensResponse200")


@_attrs_define(repr=False)
class DeleteTokensResponse200:
    """
    Attributes:
        deleted (int): The number of tokens that this call deleted.
        refused (int): The number of tokens that the caller’s rules do not allow it to delete.
        remaining (int): The number of tokens that another call would delete. Repeat the call until it is 0.
    """

    deleted: int
    refused: int
    remaining: int

    def to_dict(self) -> dict[str, Any]:
        deleted = self.deleted

        refused = self.refused

        remaining = self.remaining

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "deleted": deleted,
                "refused": refused,
                "remaining": remaining,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        deleted = d.pop("deleted")

        refused = d.pop("refused")

        remaining = d.pop("remaining")

        delete_tokens_response_200 = cls(
            deleted=deleted,
            refused=refused,
            remaining=remaining,
        )

        return delete_tokens_response_200
