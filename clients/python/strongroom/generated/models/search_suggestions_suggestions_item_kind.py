from typing import Literal, cast

SearchSuggestionsSuggestionsItemKind = Literal["container", "field", "metadata_key", "type"]


def check_search_suggestions_suggestions_item_kind(value: str) -> SearchSuggestionsSuggestionsItemKind:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(SearchSuggestionsSuggestionsItemKind, value)
