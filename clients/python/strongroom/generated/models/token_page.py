from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.pagination import Pagination
    from ..models.token import Token


T = TypeVar("T", bound="TokenPage")


@_attrs_define(repr=False)
class TokenPage:
    """A page of tokens.

    Attributes:
        pagination (Pagination): The position of a page among all items.
        data (list[Token]): The tokens of this page, newest first.
    """

    pagination: Pagination
    data: list[Token]

    def to_dict(self) -> dict[str, Any]:
        pagination = self.pagination.to_dict()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pagination": pagination,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pagination import Pagination  # noqa: PLC0415
        from ..models.token import Token  # noqa: PLC0415

        d = dict(src_dict)
        pagination = Pagination.from_dict(d.pop("pagination"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = Token.from_dict(data_item_data)

            data.append(data_item)

        token_page = cls(
            pagination=pagination,
            data=data,
        )

        return token_page
