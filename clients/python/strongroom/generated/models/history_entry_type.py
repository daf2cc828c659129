from typing import Literal, cast

HistoryEntryType = Literal["token.created", "token.deleted", "token.expired", "token.property.expired", "token.updated"]


def check_history_entry_type(value: str) -> HistoryEntryType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(HistoryEntryType, value)
