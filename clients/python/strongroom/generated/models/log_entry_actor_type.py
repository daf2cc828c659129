from typing import Literal, cast

LogEntryActorType = Literal["application", "operator", "system"]


def check_log_entry_actor_type(value: str) -> LogEntryActorType:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(LogEntryActorType, value)
