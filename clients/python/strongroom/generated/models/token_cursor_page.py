from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.token import Token
    from ..models.token_cursor_page_pagination import TokenCursorPagePagination


T = TypeVar("T", bound="TokenCursorPage")


@_attrs_define(repr=False)
class TokenCursorPage:
    """A page of tokens, with the cursor for the next page.

    Attributes:
        pagination (TokenCursorPagePagination): The position of the page.
        data (list[Token]): The tokens, newest first.
    """

    pagination: TokenCursorPagePagination
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
        from ..models.token import Token  # noqa: PLC0415
        from ..models.token_cursor_page_pagination import TokenCursorPagePagination  # noqa: PLC0415

        d = dict(src_dict)
        pagination = TokenCursorPagePagination.from_dict(d.pop("pagination"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = Token.from_dict(data_item_data)

            data.append(data_item)

        token_cursor_page = cls(
            pagination=pagination,
            data=data,
        )

        return token_cursor_page
