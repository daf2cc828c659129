from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ApiKey")


@_attrs_define(repr=False)
class ApiKey:
    """A live API key, without the key itself.

    Attributes:
        id (str): The id of the key, which is not the key itself.
        created_by (str): Who created it. The id of an application, or `operator` for the command line.
        created_at (datetime.datetime): When it was created.
        last_used_at (datetime.datetime | Unset): When the key was last used, to the minute. Absent before the first
            use.
    """

    id: str
    created_by: str
    created_at: datetime.datetime
    last_used_at: datetime.datetime | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        created_by = self.created_by

        created_at = self.created_at.isoformat()

        last_used_at: str | Unset = UNSET
        if not isinstance(self.last_used_at, Unset):
            last_used_at = self.last_used_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "created_by": created_by,
                "created_at": created_at,
            }
        )
        if last_used_at is not UNSET:
            field_dict["last_used_at"] = last_used_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        created_by = d.pop("created_by")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        _last_used_at = d.pop("last_used_at", UNSET)
        last_used_at: datetime.datetime | Unset
        if isinstance(_last_used_at, Unset):
            last_used_at = UNSET
        else:
            last_used_at = datetime.datetime.fromisoformat(_last_used_at)

        api_key = cls(
            id=id,
            created_by=created_by,
            created_at=created_at,
            last_used_at=last_used_at,
        )

        return api_key
