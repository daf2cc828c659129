from typing import Literal, cast

HistoryEntryType = Literal["token.created", "token.deleted", "token.expired", "token.property.expired", "token.updated"]


def check_history_entry_type(value: str) -> HistoryEntryType:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(HistoryEntryType, value)
