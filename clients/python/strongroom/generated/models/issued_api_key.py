from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="IssuedApiKey")


@_attrs_define(repr=False)
class IssuedApiKey:
    """A new API key.

    Attributes:
        id (str): The id of the key, which is not the key itself.
        created_by (str): Who created it. The id of an application, or `operator` for the command line.
        created_at (datetime.datetime): When it was created.
        key (str | Unset): The API key itself. Only this response shows it. A retry with the same idempotency key does
            not.
    """

    id: str
    created_by: str
    created_at: datetime.datetime
    key: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        key = self.key

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "created_by": created_by,
                "created_at": created_at,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        key = d.pop("key", UNSET)

        issued_api_key = cls(
            id=id,
            created_by=created_by,
            created_at=created_at,
            key=key,
        )

        return issued_api_key
