from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.search_suggestions_suggestions_item_kind import (
    SearchSuggestionsSuggestionsItemKind,
    check_search_suggestions_suggestions_item_kind,
)

T = TypeVar("T", bound="SearchSuggestionsSuggestionsItem")


@_attrs_define(repr=False)
class SearchSuggestionsSuggestionsItem:
    """
    Attributes:
        text (str): The text that replaces the prefix.
        kind (SearchSuggestionsSuggestionsItemKind): What the text names.
    """

    text: str
    kind: SearchSuggestionsSuggestionsItemKind

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        kind: str = self.kind

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "text": text,
                "kind": kind,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        kind = check_search_suggestions_suggestions_item_kind(d.pop("kind"))

        search_suggestions_suggestions_item = cls(
            text=text,
            kind=kind,
        )

        return search_suggestions_suggestions_item
