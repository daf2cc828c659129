from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

T = TypeVar("T", bound="IsLiveResponse200")


@_attrs_define(repr=False)
class IsLiveResponse200:
    """
    Attributes:
        status (Literal['live']): The process is running.
    """

    status: Literal["live"]

    def to_dict(self) -> dict[str, Any]:
        status = self.status

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = cast(Literal["live"], d.pop("status"))
        if status != "live":
            raise ValueError(f"status must match const 'live', got '{status}'")

        is_live_response_200 = cls(
            status=status,
        )

        return is_live_response_200
