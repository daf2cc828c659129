from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="TokenCursorPagePagination")


@_attrs_define(repr=False)
class TokenCursorPagePagination:
    """The position of the page.

    Attributes:
        page_size (int): The page size that was requested. A page may have fewer items.
        next_ (None | str): The cursor to send as `start`. Null on the last page.
    """

    page_size: int
    next_: None | str

    def to_dict(self) -> dict[str, Any]:
        page_size = self.page_size

        next_: None | str
        next_ = self.next_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "page_size": page_size,
                "next": next_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        page_size = d.pop("page_size")

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next"))

        token_cursor_page_pagination = cls(
            page_size=page_size,
            next_=next_,
        )

        return token_cursor_page_pagination
