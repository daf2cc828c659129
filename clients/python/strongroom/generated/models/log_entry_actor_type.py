from typing import Literal, cast

LogEntryActorType = Literal["application", "operator", "system"]


def check_log_entry_actor_type(value: str) -> LogEntryActorType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(LogEntryActorType, value)
