from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.pagination import Pagination
    from ..models.token import Token


T = TypeVar("T", bound="FoundPage")


@_attrs_define(repr=False)
class FoundPage:
    """A page of tokens that a search found.

    Attributes:
        pagination (Pagination): The position of a page among all items.
        data (list[Token]): The tokens of this page, newest first.
        field_suggestions (list[str] | Unset): Suggested beginnings of terms, such as `metadata.customer`,
            `container:/pci/high/` or `type:card_number`. Present only if the search found nothing because a term names
            something that no token has.
    """

    pagination: Pagination
    data: list[Token]
    field_suggestions: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        pagination = self.pagination.to_dict()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        field_suggestions: list[str] | Unset = UNSET
        if not isinstance(self.field_suggestions, Unset):
            field_suggestions = self.field_suggestions

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pagination": pagination,
                "data": data,
            }
        )
        if field_suggestions is not UNSET:
            field_dict["_suggestions"] = field_suggestions

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

        field_suggestions = cast(list[str], d.pop("_suggestions", UNSET))

        found_page = cls(
            pagination=pagination,
            data=data,
            field_suggestions=field_suggestions,
        )

        return found_page
