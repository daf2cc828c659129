from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Pagination")


@_attrs_define(repr=False)
class Pagination:
    """The position of a page among all items.

    Attributes:
        total_items (int): The number of items that match all filters and that the caller may see.
        page_number (int): The number of this page.
        page_size (int): The maximum number of items per page, as requested.
        total_pages (int): The number of pages.
    """

    total_items: int
    page_number: int
    page_size: int
    total_pages: int

    def to_dict(self) -> dict[str, Any]:
        total_items = self.total_items

        page_number = self.page_number

        page_size = self.page_size

        total_pages = self.total_pages

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "total_items": total_items,
                "page_number": page_number,
                "page_size": page_size,
                "total_pages": total_pages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        total_items = d.pop("total_items")

        page_number = d.pop("page_number")

        page_size = d.pop("page_size")

        total_pages = d.pop("total_pages")

        pagination = cls(
            total_items=total_items,
            page_number=page_number,
            page_size=page_size,
            total_pages=total_pages,
        )

        return pagination
